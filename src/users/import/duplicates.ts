/** Who is in a file twice: told before anything is written. */
import type { ImportedPerson } from './person.ts';

/** Says of each person in turn which line before has the same name; undefined for the first. */
export function createDuplicates(): (person: ImportedPerson, line: number) => string | undefined {
  const seen = {
    sub: new Map<string, number>(),
    username: new Map<string, number>(),
    email: new Map<string, number>(),
  };
  return ({ sub, folded, username }, line) => {
    const keys = {
      sub,
      username: username === undefined ? undefined : folded.username_casefold!,
      email: folded.email_casefold ?? undefined,
    };
    for (const kind of ['sub', 'username', 'email'] as const) {
      const before = keys[kind] === undefined ? undefined : seen[kind].get(keys[kind]);
      if (before !== undefined) return `${kind}: line ${before} has the same`;
    }
    for (const kind of ['sub', 'username', 'email'] as const) if (keys[kind]) seen[kind].set(keys[kind], line);
    return undefined;
  };
}
