/**
 * Writes people of another system, part by part. Who is there already stays as they are: an import that was stopped is begun
 * again, and goes on where it was.
 */
import type { Deps } from '../../deps.ts';
import { rowOf, type Actor } from '../../events/index.ts';
import { foldName } from '../../protocol/names.ts';
import { newId } from '../../protocol/handle.ts';
import { transact, type Trx } from '../../store/postgres/db.ts';
import type { FoldedNames } from '../../store/users.ts';
import * as bulk from '../../store/users-in-bulk.ts';
import { keepForeignSecret } from '../foreign-secrets.ts';
import type { ImportedPerson } from './person.ts';

/** How many are written at once. */
export const IMPORT_PART = 1000;

/** What became of one: made now, there before, or why not. */
export type ImportOutcome = 'created' | 'present' | { refused: string };

type Needs = Pick<Deps, 'db' | 'random' | 'secrets'>;
type Present = Map<string, { sub: string } & FoldedNames>;

/** Writes a part, in one transaction, which `settle` is in. What becomes of each is told in the same order. */
export async function importPeople(
  deps: Needs,
  people: readonly ImportedPerson[],
  by: Actor,
  now: Date,
  settle?: (trx: Trx, outcomes: readonly ImportOutcome[]) => Promise<void>,
): Promise<ImportOutcome[]> {
  const secrets = new Map(people.flatMap(({ hash }) => (hash?.secret ? [[hash.secret.name, hash.secret]] : [])));
  for (const secret of secrets.values()) await keepForeignSecret(deps, secret);
  return transact(deps.db, async (trx) => {
    await bulk.lock(trx);
    const subs = people.flatMap(({ sub }) => sub ?? []);
    const found = await bulk.findAny(
      trx,
      subs,
      people.map(({ folded }) => folded),
    );
    const given_out = await bulk.givenOut(trx, subs);
    const present = byName(found);
    const outcomes = people.map((person) => outcomeOf(person, present, given_out));
    const rows = people.map((person) => rowFor(deps, person, now));
    const written = await bulk.insertMany(
      trx,
      rows.filter((_row, index) => outcomes[index] === 'created'),
    );
    await bulk.appendMany(
      trx,
      [...written].map((sub) => rowOf({ event: 'user_created', sub }, by, now)),
    );
    const told = outcomes.map((outcome, index) =>
      outcome === 'created' && !written.has(rows[index]!.sub) ? { refused: TAKEN_MEANWHILE } : outcome,
    );
    await settle?.(trx, told);
    return told;
  });
}

const TAKEN_MEANWHILE = 'somebody took the name at this moment: import the file again';

function byName(found: ReadonlyArray<{ sub: string } & FoldedNames>): Present {
  const present: Present = new Map();
  for (const row of found) {
    present.set(`sub ${row.sub}`, row);
    for (const name of [row.username_folded, row.username_casefold]) if (name) present.set(`username ${name}`, row);
    for (const name of [row.email_folded, row.email_casefold]) if (name) present.set(`email ${name}`, row);
  }
  return present;
}

/** An account is the same person if everything that the line names of it is its own. */
function outcomeOf(
  { sub, username, email, folded }: ImportedPerson,
  present: Present,
  given_out: Set<string>,
): ImportOutcome {
  const named = (kind: string, lower: string | null, full: string | null): { sub: string } | undefined =>
    present.get(`${kind} ${full}`) ?? present.get(`${kind} ${lower}`);
  const owners = {
    ...(sub !== undefined && { sub: present.get(`sub ${sub}`) }),
    ...(username !== undefined && { username: named('username', folded.username_folded, folded.username_casefold) }),
    ...(email !== null && { email: named('email', folded.email_folded, folded.email_casefold) }),
  };
  const [first, ...others] = Object.values(owners);
  if (first && others.every((owner) => owner?.sub === first.sub)) return 'present';
  if (sub !== undefined && !owners.sub && given_out.has(sub)) return { refused: 'sub: was given out before' };
  const taken = Object.entries(owners).find(([, owner]) => owner);
  return taken ? { refused: `${taken[0]}: another account has it` } : 'created';
}

function rowFor({ random }: Needs, person: ImportedPerson, now: Date): bulk.NewRow {
  const { folded, email, email_verified, claims, disabled, hash } = person;
  // 16 letters and digits: nobody types it.
  const drawn = `user-${random(10).toString('hex').slice(0, 16)}`;
  const username = person.username ?? drawn;
  return {
    sub: person.sub ?? newId(random, 17).slice(0, 22),
    username,
    ...folded,
    ...(person.username === undefined && { username_folded: drawn, username_casefold: foldName(drawn) }),
    email,
    email_verified,
    claims,
    disabled_at: disabled ? now : null,
    created_at: now,
    updated_at: now,
    phc: hash?.phc,
  };
}
