/** What a write changed, for its audit event: of each member that differs what it was and what it is, and never a secret. */
import { isDeepStrictEqual } from 'node:util';

/** Absent on the side where the thing was not, or is no more. */
// An alias, not an interface: an event's detail is a record of anything.
export type Change = {
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
};

/** Members that no event shows, should a document have one. */
const SECRET =
  /secret|password|phc|hash|private|salt|assertion|software_statement|registration_access_token|initial_access_token/;
/** Kept by us, and different after every write. */
const BOOKKEEPING = new Set(['created_at', 'updated_at', 'client_id_issued_at']);

/** The change from one document to another; undefined is a thing that is not there. */
export function changeOf(before: object | undefined, after: object | undefined): Change {
  const [was, is] = [shown(before), shown(after)];
  if (!was || !is) return { ...(was && { before: was }), ...(is && { after: is }) };
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  const changed = names.filter((name) => !isDeepStrictEqual(was[name], is[name]));
  const only = (document: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(changed.map((name) => [name, document[name] ?? null]));
  return { before: only(was), after: only(is) };
}

function shown(document: object | undefined): Record<string, unknown> | undefined {
  if (document === undefined) return undefined;
  const members = Object.entries(document).filter(
    ([name, value]) => !hidden(name) && value !== undefined && value !== null,
  );
  return Object.fromEntries(members);
}

// A member that says how long something lives, or how it is used, has "secret" in its name and is none.
const hidden = (name: string): boolean => BOOKKEEPING.has(name) || (SECRET.test(name) && !/_(method|alg)$/.test(name));
