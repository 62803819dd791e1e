/** Imports that were asked for elsewhere: kept sealed, and carried out by a worker, on whichever process. */
import type { Deps } from '../../deps.ts';
import { record, type Actor } from '../../events/index.ts';
import { bucketOf, drawId } from '../../protocol/handle.ts';
import { DAY, secondsAfter } from '../../protocol/numeric-date.ts';
import type { Trx } from '../../store/postgres/db.ts';
import * as store from '../../store/user-imports.ts';
import { createDuplicates } from './duplicates.ts';
import { importPeople } from './people.ts';
import { ImportProblem, readPerson, type ImportedMembers, type ImportedPerson } from './person.ts';

/** Seconds for which it is known what became of one. */
const KEPT = 14 * DAY;
/** Seconds that a process has for one; after them another begins it again. */
const LEASE = 300;
/** How often one is begun before it is given up: what kills a process would go on killing. */
const ATTEMPTS = 5;
/** How many the doctor opens. */
const LOOKED_AT = 100;

const labelOf = (import_id: string): string => `user import ${import_id}`;

/** Keeps people to be imported, once the transaction is committed. */
export async function askForImport(
  trx: Trx,
  { random, secrets }: Pick<Deps, 'random' | 'secrets'>,
  { people, skip_refused }: { people: readonly ImportedMembers[]; skip_refused: boolean },
  by: Actor,
  now: Date,
): Promise<store.UserImport> {
  const expires_at = secondsAfter(now, KEPT);
  const import_id = drawId(random, expires_at);
  const detail = { import_id, people: people.length };
  await record(trx, { event: 'user_import_asked', sub: null, detail }, by, now);
  return store.insert(trx, {
    expires_bucket: bucketOf(expires_at),
    import_id,
    actor: 'actor' in by ? by.actor : '',
    skip_refused,
    sealed: secrets.seal(Buffer.from(JSON.stringify(people)), labelOf(import_id)),
    people: people.length,
    next_at: now,
    created_at: now,
  });
}

type Needs = Pick<Deps, 'clock' | 'db' | 'log' | 'random' | 'secrets'>;

/** Carries out what is due, and returns how many imports that were. */
export async function carryOutImports(deps: Needs): Promise<number> {
  for (let carried = 0; ; carried += 1) {
    const now = deps.clock();
    const job = await store.take(deps.db, secondsAfter(now, LEASE), now);
    if (!job) return carried;
    await carryOut(deps, job, now);
  }
}

async function carryOut(deps: Needs, job: store.UserImport, now: Date): Promise<void> {
  const fail = (failure: string) =>
    store.finish(deps.db, job, { state: 'failed', created: 0, present: 0, refused: [], failure }, now);
  const given = openPeople(deps, job);
  if (!given) {
    deps.log.error({ import_id: job.import_id }, 'an import was sealed under a key that is not in SECRET_KEYS');
    await fail('it was sealed under a key that is not in SECRET_KEYS: import the people again');
    return;
  }
  if (job.attempts > ATTEMPTS) {
    await fail(`it was begun ${ATTEMPTS} times and never ended: see the log of the server`);
    return;
  }
  const { people, refused } = judge(given);
  if (refused.length > 0 && (!job.skip_refused || people.length === 0)) {
    await store.finish(deps.db, job, { state: 'refused', created: 0, present: 0, refused }, now);
    return;
  }
  const list = people.map(({ person }) => person);
  // What became of it is written with the accounts: whoever begins it again after a crash finds it as it was.
  await importPeople(deps, list, { actor: job.actor }, now, async (trx, outcomes) => {
    const taken = outcomes.flatMap((outcome, index) =>
      typeof outcome === 'string' ? [] : [{ line: people[index]!.line, detail: outcome.refused }],
    );
    const counted = (which: string): number => outcomes.filter((outcome) => outcome === which).length;
    const all = [...refused, ...taken].toSorted((one, other) => one.line - other.line);
    const outcome = { state: 'done', created: counted('created'), present: counted('present'), refused: all } as const;
    if (!(await store.finish(trx, job, outcome, now))) throw new Error('another process carried the import out');
  });
}

/** Undefined where it was sealed under a key that is gone: the import is to be asked for again. */
function openPeople(
  { secrets }: Pick<Needs, 'secrets'>,
  { import_id, sealed }: Pick<store.UserImport, 'import_id' | 'sealed'>,
): unknown[] | undefined {
  try {
    return JSON.parse(secrets.open(sealed!, labelOf(import_id)).toString()) as unknown[];
  } catch {
    return undefined;
  }
}

/** What the doctor should know: how many wait, how many of them no key opens, and how many failed lately. */
export async function stateOfImports({ db, secrets }: Pick<Deps, 'db' | 'secrets'>) {
  const waiting = await store.waiting(db, LOOKED_AT);
  const lost = waiting.filter((job) => !openPeople({ secrets }, job)).length;
  return { oldest: waiting[0]?.created_at, lost, failed: await store.countFailed(db) };
}

function judge(given: readonly unknown[]): {
  people: Array<{ line: number; person: ImportedPerson }>;
  refused: store.RefusedPerson[];
} {
  const duplicate = createDuplicates();
  const [people, refused]: [Array<{ line: number; person: ImportedPerson }>, store.RefusedPerson[]] = [[], []];
  for (const [index, one] of given.entries()) {
    const line = index + 1;
    try {
      const person = readPerson(one);
      const problem = duplicate(person, line);
      if (problem !== undefined) throw new ImportProblem(problem);
      people.push({ line, person });
    } catch (error) {
      if (!(error instanceof ImportProblem)) throw error;
      refused.push({ line, detail: error.message });
    }
  }
  return { people, refused };
}
