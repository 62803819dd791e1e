/** Changes of accounts and clients at once: names are given once, and no change undoes another. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeClient } from '../../src/clients/register.ts';
import { addSecretTo } from '../../src/clients/secrets.ts';
import { type ClientMetadataInput, presets } from '../../src/protocol/client-metadata.ts';
import * as clients from '../../src/store/clients.ts';
import { WriteError } from '../../src/protocol/write-error.ts';
import { transact } from '../../src/store/postgres/db.ts';
import * as users from '../../src/store/users.ts';
import { createAccount, removeAccount, updateAccount } from '../../src/users/accounts.ts';
import { addMembers, createGroup, removeGroup } from '../../src/users/groups.ts';
import { createRole, assignRole } from '../../src/users/roles.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { aClient, aUser, BY, changeClient } from '../support/fixtures.ts';
import { atOnce, connected, tally } from '../support/races.ts';

let database: TestDatabase;
let at: TestApp;
beforeAll(async () => {
  database = await createTestDatabase({ max: 20 });
  await connected(database.db, 20);
  at = await testApp({ database });
});
afterAll(async () => {
  await at.close();
  await database.close();
});

describe('names are given once', () => {
  const problems = (outcomes: Array<PromiseSettledResult<unknown>>): string[] =>
    outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => String(reason));

  test('of twenty accounts with one username, in any case, one is made', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        aUser(at, {
          username: index % 2 === 0 ? 'Grace' : 'gracE',
          email: `g${index}@example.test`,
          password: undefined,
        }),
      ),
    );
    expect(new Set(problems(outcomes))).toEqual(new Set(['WriteError: the username is taken']));
    expect(problems(outcomes)).toHaveLength(19);
  });

  test('of twenty accounts with one e-mail address, one is made, and the others leave nothing', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        aUser(at, { username: `m${index}`, email: 'Mary@Example.test', password: undefined }),
      ),
    );
    expect(new Set(problems(outcomes))).toEqual(new Set(['WriteError: the e-mail address is taken']));
    const made = await at.deps.db.selectFrom('users').select('sub').where('username_folded', 'like', 'm%').execute();
    expect(made.filter(({ sub }) => sub !== '')).toHaveLength(1);
  });

  test('RFC 9700 §4.15: of a client and a person with one id, one is made', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = `collision-${round}`;
      const person = createAccount(at.deps, { username: id, sub: id }, BY, at.clock.now());
      const metadata = { ...presets.m2m, scope: '' };
      const machine = aClient(at, { ...metadata, client_id: id });
      const outcomes = await Promise.allSettled(round % 2 === 0 ? [person, machine] : [machine, person]);
      const [reason, ...more] = outcomes
        .filter((outcome) => outcome.status === 'rejected')
        .map((o) => o.reason as unknown);
      expect(more).toEqual([]);
      const refusal = reason as { reason?: string; cause?: { code: string } };
      expect(refusal.reason ?? refusal.cause?.code).toBe('conflict');
    }
  });

  test('the id of a client that is gone is never a person’s, but may be a client’s again', async () => {
    const metadata = { ...presets.m2m, scope: '' };
    await aClient(at, { ...metadata, client_id: 'gone' });
    await transact(at.deps.db, (trx) => removeClient(trx, 'gone', BY, at.clock.now()));
    const person = createAccount(at.deps, { username: 'gone', sub: 'gone' }, BY, at.clock.now());
    await expect(person).rejects.toThrow(WriteError);
    await expect(aClient(at, { ...metadata, client_id: 'gone' })).resolves.toBeDefined();
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => aClient(at, { ...metadata, client_id: 'one' })));
    expect(tally(outcomes.map(({ status }) => status))).toEqual({ fulfilled: 1, rejected: 2 });
  });
});

describe('no change undoes another', () => {
  test('of an account: each names its own part', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { sub } = await aUser(at, { password: undefined });
      const change = (changes: Parameters<typeof updateAccount>[2]): Promise<unknown> =>
        transact(at.deps.db, (trx) => updateAccount(trx, sub, changes, BY, at.clock.now()));
      await Promise.all([
        change({ username: `renamed${round}` }),
        change({ email: `new${round}@example.test` }),
        change({ claims: { name: 'Renamed' } }),
      ]);
      expect(await users.find(at.deps.db, sub)).toMatchObject({
        username: `renamed${round}`,
        email: `new${round}@example.test`,
        claims: { name: 'Renamed' },
      });
    }
  });

  test('of a client: each names its own part', async () => {
    const { client_id } = await aClient(at);
    for (let round = 0; round < 10; round += 1) {
      const change = (changes: Partial<ClientMetadataInput>): Promise<unknown> =>
        changeClient(at, { client_id }, changes);
      await Promise.all([
        change({ client_name: `Renamed ${round}` }),
        change({ scope: `openid ${round}` }),
        change({ access_token_ttl: 100 + round }),
      ]);
      expect(await clients.find(at.deps.db, client_id)).toMatchObject({
        client_name: `Renamed ${round}`,
        scope: ['openid', String(round)],
        access_token_ttl: 100 + round,
      });
    }
  });

  test('of eight rotations of a secret without overlap, one secret still counts', async () => {
    const { client_id } = await aClient(at);
    const now = at.clock.now();
    const rotated = await atOnce(8, () =>
      transact(at.deps.db, (trx) => addSecretTo(trx, at.deps, client_id, { overlap: 0 }, BY, now)),
    );
    expect(new Set(rotated.map((secret) => secret?.client_secret)).size).toBe(8);
    const { secrets } = (await clients.find(at.deps.db, client_id))!;
    expect(secrets.filter(({ expires_at }) => expires_at === null || expires_at > now)).toHaveLength(1);
    expect(secrets).toHaveLength(9);
  });
});

describe('who is in a group', () => {
  test('of twenty who add the same people, in any order, each adds or finds them, and one event is left for each', async () => {
    const { group_id } = await transact(at.deps.db, (trx) =>
      createGroup(trx, at.deps, { name: 'crowded' }, BY, at.clock.now()),
    );
    const subs = await Promise.all(
      Array.from({ length: 6 }, async () => (await aUser(at, { password: undefined })).sub),
    );
    const joined = await atOnce(20, (index) =>
      transact(at.deps.db, (trx) =>
        addMembers(trx, group_id, index % 2 === 0 ? subs : subs.toReversed(), BY, at.clock.now()),
      ),
    );
    expect(joined.flatMap(({ added }) => added).toSorted()).toEqual(subs.toSorted());
    const events = await at.deps.db
      .selectFrom('audit_events')
      .select('sub')
      .where('event', '=', 'group_member_added')
      .execute();
    expect(events).toHaveLength(6);
  });

  test('of adding and deleting a group or a person at once, no membership of nobody is left, and nothing breaks', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { group_id } = await transact(at.deps.db, (trx) =>
        createGroup(trx, at.deps, { name: `brief ${round}` }, BY, at.clock.now()),
      );
      const { role_id } = await transact(at.deps.db, (trx) =>
        createRole(trx, at.deps, { name: `brief ${round}` }, BY, at.clock.now()),
      );
      const { sub } = await aUser(at, { password: undefined });
      await Promise.all([
        transact(at.deps.db, (trx) => addMembers(trx, group_id, [sub], BY, at.clock.now())),
        transact(at.deps.db, (trx) => assignRole(trx, role_id, { kind: 'groups', id: group_id }, BY, at.clock.now())),
        transact(at.deps.db, (trx) => assignRole(trx, role_id, { kind: 'users', id: sub }, BY, at.clock.now())),
        round % 2 === 0
          ? transact(at.deps.db, (trx) => removeGroup(trx, group_id, BY, at.clock.now()))
          : transact(at.deps.db, (trx) => removeAccount(trx, sub, BY, at.clock.now())),
      ]);
    }
    const orphans = await at.deps.db
      .selectFrom('group_members')
      .leftJoin('users', 'users.sub', 'group_members.sub')
      .leftJoin('groups', 'groups.group_id', 'group_members.group_id')
      .where((where) => where.or([where('users.sub', 'is', null), where('groups.group_id', 'is', null)]))
      .select('group_members.sub')
      .execute();
    expect(orphans).toEqual([]);
  });
});
