/** Imports that operators ask for over the API, and a worker carries out. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecrets } from '../../../src/keys/secrets.ts';
import { carryOutImports, stateOfImports } from '../../../src/users/import/jobs.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { anOperator, type Operator } from '../../support/operator.ts';

let at: TestApp;
let other: TestApp;
let operator: Operator;
beforeAll(async () => {
  at = await testApp();
  other = await testApp({ database: at.database, clock: at.clock });
  operator = await anOperator(at);
});
afterAll(async () => {
  await other.close();
  await at.close();
});

const BCRYPT = '$2y$10$.vGA1O9wmRjrwAVXD98HNOgsNpDczlqm3Jq7KnEd1rVAGv3Fykk1a';
type Shown = Record<string, unknown> & { import_id: string };
const ask = async (people: readonly unknown[], more = {}): Promise<Shown> => {
  const answer = await operator.send('POST', '/user-imports', { people, ...more });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json<Shown>();
};
const shown = async ({ import_id }: Shown): Promise<Shown> =>
  (await operator.send('GET', `/user-imports/${import_id}`)).json<Shown>();
const row = ({ import_id }: Shown) =>
  at.deps.db.selectFrom('user_imports').selectAll().where('import_id', '=', import_id).executeTakeFirstOrThrow();

test('people are imported by a worker of any process, and their hashes are sealed until then and erased after', async () => {
  const asked = await ask(
    [
      { username: 'rasmus', email: 'rasmus@example.test', password_hash: BCRYPT },
      { username: 'two words' },
      { username: 'RASMUS' },
    ],
    { skip_refused: true },
  );
  expect(asked).toMatchObject({ state: 'waiting', people: 3, created: 0, done_at: null });
  expect((await row(asked)).sealed!.includes('$2y$')).toBe(false);
  expect(await carryOutImports(other.deps)).toBe(1);
  expect(await shown(asked)).toMatchObject({
    state: 'done',
    created: 1,
    present: 0,
    refused: [
      { line: 2, detail: 'username must be 1 to 128 visible characters without spaces or @' },
      { line: 3, detail: 'username: line 1 has the same' },
    ],
  });
  expect((await row(asked)).sealed).toBeNull();
  const entered = await at.app.inject({
    method: 'POST',
    url: '/login',
    payload: { username: 'rasmus', password: 'rasmuslerdorf' },
  });
  expect(entered.statusCode).toBe(200);
  const again = await ask([{ username: 'rasmus', email: 'rasmus@example.test' }]);
  await carryOutImports(at.deps);
  expect(await shown(again)).toMatchObject({ state: 'done', created: 0, present: 1 });
  const made = await at.deps.db
    .selectFrom('audit_events')
    .select('actor')
    .where('event', '=', 'user_created')
    .execute();
  expect(made).toContainEqual({ actor: operator.client.client_id });
});

test('nobody is imported while one is refused, unless that is asked for', async () => {
  const asked = await ask([{ username: 'fine' }, { username: 'weak', password_hash: 'sunshine' }]);
  await carryOutImports(at.deps);
  expect(await shown(asked)).toMatchObject({ state: 'refused', created: 0, refused: [{ line: 2 }] });
  expect((await operator.send('GET', '/users?username=fine')).json()).toMatchObject({ items: [] });
  const listed = await operator.send('GET', '/user-imports?state=refused');
  expect(listed.json()).toMatchObject({ items: [{ import_id: asked.import_id }] });
});

test('what a process that died had in hand is carried out by another later, and two at once do it once', async () => {
  const asked = await ask([{ username: 'again1' }, { username: 'again2' }]);
  await at.deps.db
    .updateTable('user_imports')
    .set({ next_at: new Date(at.clock.now().getTime() + 300_000) })
    .where('import_id', '=', asked.import_id)
    .execute();
  expect(await carryOutImports(at.deps)).toBe(0);
  at.clock.advance(301);
  const carried = await Promise.all([at, other, at, other].map(({ deps }) => carryOutImports(deps)));
  expect(carried.reduce((sum, each) => sum + each, 0)).toBe(1);
  expect(await shown(asked)).toMatchObject({ state: 'done', created: 2, present: 0 });
});

test('an import whose key is lost is said to have failed, and is in nobody’s way', async () => {
  const asked = await ask([{ username: 'sealed' }]);
  const secrets = createSecrets(['another secret key of at least forty characters'], at.deps.random);
  expect(await stateOfImports({ ...at.deps, secrets })).toMatchObject({ lost: 1, failed: 0 });
  expect(await carryOutImports({ ...at.deps, secrets })).toBe(1);
  expect(await stateOfImports(at.deps)).toMatchObject({ oldest: undefined, lost: 0, failed: 1 });
  expect(await shown(asked)).toMatchObject({ state: 'failed', created: 0, refused: [] });
  expect(await shown(asked)).toMatchObject({ failure: expect.stringMatching(/a key that is not in SECRET_KEYS/) });
  expect((await row(asked)).sealed).toBeNull();
});

test('RFC 9457: more people than one import takes are refused, and so is what is no person', async () => {
  for (const people of [[], Array.from({ length: 1001 }, () => ({})), [{ emial: 'x' }], 'everybody']) {
    expect((await operator.send('POST', '/user-imports', { people })).statusCode).toBe(400);
  }
});
