/** Groups and roles of a person, wherever a scope opens them or a resource asks for them, and how large tokens may get. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../src/store/users.ts';
import { addMembers, createGroup, removeGroup, removeMember, updateGroup } from '../../src/users/groups.ts';
import { removeAccount } from '../../src/users/accounts.ts';
import { createRole, assignRole, unassignRole } from '../../src/users/roles.ts';
import { removeResource } from '../../src/clients/scopes.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  anApprovedDeviceCode,
  anAuthorizationCode,
  aDevice,
  authorizationUrl,
  aUser,
  aVerifier,
  BY,
  credentials,
  introspect,
  postForm,
  redeem,
  refresh,
  signIn,
  someTokens,
  userinfo,
  type AClient,
  type TestBrowser,
  type Tokens,
} from '../support/fixtures.ts';
import { aResource, decode } from '../support/oauth.ts';

const SCOPE = 'openid groups roles offline_access';
const NOTES = 'https://notes.example.test';
const BILLS = 'https://bills.example.test';
const OPAQUE = 'https://opaque.example.test';
const SILENT = 'https://silent.example.test';
let at: TestApp;
let client: AClient;
let ada: User;
let browser: TestBrowser;
const group: Record<string, string> = {};
const role: Record<string, string> = {};

const now = (): Date => at.clock.now();
const join = (name: string, { sub }: { sub: string }): Promise<unknown> =>
  transact(at.deps.db, (trx) => addMembers(trx, group[name]!, [sub], BY, now()));
const leave = (name: string, { sub }: { sub: string }): Promise<unknown> =>
  transact(at.deps.db, (trx) => removeMember(trx, group[name]!, sub, BY, now()));

beforeAll(async () => {
  at = await testApp();
  client = await aClient(at, { scope: SCOPE, skip_consent: true });
  ada = await aUser(at);
  browser = await signIn(at, ada);
  await aResource(at, NOTES, { claims: ['groups', 'roles'], client_id: client.client_id });
  await aResource(at, BILLS, { claims: ['roles'] });
  await aResource(at, OPAQUE, { claims: ['groups', 'roles'], access_token_format: 'opaque' });
  await aResource(at, SILENT);
  for (const name of ['staff', 'night']) {
    group[name] = (await transact(at.deps.db, (trx) => createGroup(trx, at.deps, { name }, BY, now()))).group_id;
  }
  const roles: Array<[string, string | null]> = [
    ['auditor', null],
    ['editor', NOTES],
    ['payer', BILLS],
    ['admin', BILLS],
    ['admin', OPAQUE],
  ];
  for (const [name, resource] of roles) {
    role[`${name} ${resource}`] = (
      await transact(at.deps.db, (trx) => createRole(trx, at.deps, { name, resource }, BY, now()))
    ).role_id;
  }
  await join('staff', ada);
  const people = { kind: 'users', id: ada.sub } as const;
  const staff = { kind: 'groups', id: group['staff']! } as const;
  await transact(at.deps.db, (trx) => assignRole(trx, role['auditor null']!, staff, BY, now()));
  await transact(at.deps.db, (trx) => assignRole(trx, role[`editor ${NOTES}`]!, people, BY, now()));
  // Twice over: it is one role all the same.
  await transact(at.deps.db, (trx) => assignRole(trx, role[`editor ${NOTES}`]!, staff, BY, now()));
  await transact(at.deps.db, (trx) => assignRole(trx, role[`payer ${BILLS}`]!, staff, BY, now()));
  await transact(at.deps.db, (trx) => assignRole(trx, role[`admin ${BILLS}`]!, people, BY, now()));
  await transact(at.deps.db, (trx) => assignRole(trx, role[`admin ${OPAQUE}`]!, people, BY, now()));
});
afterAll(() => at.close());

interface MembershipsSeen {
  groups?: unknown;
  roles?: unknown;
}
const told = ({ groups, roles }: Record<string, unknown>): MembershipsSeen => ({
  ...(groups !== undefined && { groups }),
  ...(roles !== undefined && { roles }),
});
const inToken = (jwt: string): MembershipsSeen => told(decode(jwt).payload);
const tokensFor = async (
  parameters: Record<string, string> = {},
  given: { client?: AClient; user?: User; browser?: TestBrowser } = {},
): Promise<Tokens> =>
  (await someTokens(at, { client, user: ada, browser, ...given, parameters: { scope: SCOPE, ...parameters } })).tokens;

describe('what a client is told', () => {
  test('OpenID Connect Core §5.4: the scopes groups and roles open the claims, in the ID token and in userinfo', async () => {
    // The roles at the whole server, and at the resource that is this client; those at others are not its affair.
    const expected = { groups: ['staff'], roles: ['auditor', 'editor'] };
    const tokens = await tokensFor();
    expect(inToken(tokens.id_token)).toEqual(expected);
    expect(told((await userinfo(at, tokens.access_token)).json())).toEqual(expected);
    expect(inToken(tokens.access_token)).toEqual({});

    for (const [scope, opened] of [
      ['openid', {}],
      ['openid groups', { groups: ['staff'] }],
      ['openid roles', { roles: ['auditor', 'editor'] }],
    ] as const) {
      const narrow = await tokensFor({ scope });
      expect(inToken(narrow.id_token)).toEqual(opened);
      expect(told((await userinfo(at, narrow.access_token)).json())).toEqual(opened);
    }
  });

  test('another client is told of the roles at the whole server only', async () => {
    const other = await aClient(at, { scope: SCOPE, skip_consent: true });
    expect(inToken((await tokensFor({}, { client: other })).id_token)).toEqual({
      groups: ['staff'],
      roles: ['auditor'],
    });
  });

  test('OpenID Connect Core §5.5: they can be asked for by name, and a minimal ID token has nothing else', async () => {
    const minimal = await aClient(at, { scope: SCOPE, skip_consent: true, id_token_claims: 'minimal' });
    expect(inToken((await tokensFor({}, { client: minimal })).id_token)).toEqual({});
    const claims = JSON.stringify({ id_token: { groups: null }, userinfo: { roles: null } });
    const tokens = await tokensFor({ scope: 'openid', claims }, { client: minimal });
    expect(inToken(tokens.id_token)).toEqual({ groups: ['staff'] });
    expect(told((await userinfo(at, tokens.access_token)).json())).toEqual({ roles: ['auditor'] });
  });

  test('OpenID Connect Core §8: pairwise subjects hide the person, not the groups', async () => {
    const pairwise = await aClient(at, { scope: SCOPE, skip_consent: true, subject_type: 'pairwise' });
    const { payload } = decode((await tokensFor({ resource: NOTES }, { client: pairwise })).access_token);
    expect(payload['sub']).not.toBe(ada.sub);
    expect(told(payload)).toEqual({ groups: ['staff'], roles: ['auditor', 'editor'] });
  });

  test('names among the claims of a person are groups, too, beside those here', async () => {
    const bob = await aUser(at, { claims: { groups: ['legacy', 'staff'] } });
    const theirs = { user: bob, browser: await signIn(at, bob) };
    expect(inToken((await tokensFor({}, theirs)).id_token)).toEqual({ groups: ['legacy', 'staff'] });
    await join('staff', bob);
    await join('night', bob);
    expect(inToken((await tokensFor({}, theirs)).id_token)).toEqual({
      groups: ['legacy', 'staff', 'night'],
      roles: ['auditor', 'editor'],
    });
  });
});

describe('what a resource is told', () => {
  test('RFC 9068 §2.2.3.1: the access token says what its resource asks for, with the roles held there', async () => {
    for (const [resource, expected] of [
      [NOTES, { groups: ['staff'], roles: ['auditor', 'editor'] }],
      [BILLS, { roles: ['admin', 'auditor', 'payer'] }],
      [SILENT, {}],
    ] as const) {
      // Whatever the scope: the resource asks, not the client.
      const { access_token } = await tokensFor({ resource, scope: 'openid' });
      expect(inToken(access_token)).toEqual(expected);
      expect(told(await introspect(at, client, access_token))).toEqual(expected);
    }
  });

  test('a token for several resources says what all of them ask for, and the roles held at all of them', async () => {
    const of = async (...resource: string[]): Promise<MembershipsSeen> => {
      const { code_verifier, code_challenge } = aVerifier();
      const asked = { scope: SCOPE, code_challenge, code_challenge_method: 'S256' };
      const more = resource.map((uri) => `&resource=${encodeURIComponent(uri)}`).join('');
      const answer = await browser.get(authorizationUrl(browser.issuer, client, asked) + more);
      const code = new URL(answer.headers.location!).searchParams.get('code')!;
      return inToken(
        (await redeem(at, { code, code_verifier, client, user: ada, browser })).json<Tokens>().access_token,
      );
    };
    expect(await of(NOTES, BILLS)).toEqual({ roles: ['auditor'] });
    expect(await of(NOTES, SILENT)).toEqual({});
    expect(await of(NOTES, at.deps.config.ISSUER)).toEqual({});
  });

  test('RFC 7662 §2.2: introspection of an opaque token says what is so now', async () => {
    const { access_token } = await tokensFor({ resource: OPAQUE });
    expect(access_token).not.toContain('.');
    const asked = async (): Promise<MembershipsSeen> => told(await introspect(at, client, access_token));
    expect(await asked()).toEqual({ groups: ['staff'], roles: ['admin', 'auditor'] });
    await join('night', ada);
    expect(await asked()).toEqual({ groups: ['night', 'staff'], roles: ['admin', 'auditor'] });
    await leave('night', ada);
    expect(await asked()).toEqual({ groups: ['staff'], roles: ['admin', 'auditor'] });
  });

  test('the device flow tells the same', async () => {
    const device = await aDevice(at, { scope: SCOPE });
    const approved = await anApprovedDeviceCode(at, {
      client: device,
      user: ada,
      browser,
      fields: { scope: SCOPE, resource: NOTES },
    });
    const answer = await postForm(at, '/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: approved.device_code,
      ...credentials(device),
    });
    const tokens = answer.json<Tokens>();
    expect(inToken(tokens.access_token)).toEqual({ groups: ['staff'], roles: ['auditor', 'editor'] });
    expect(inToken(tokens.id_token)).toEqual({ groups: ['staff'], roles: ['auditor'] });
  });
});

describe('a change', () => {
  test('is in the next tokens, and in userinfo at once', async () => {
    const eve = await aUser(at);
    const theirs = { user: eve, browser: await signIn(at, eve) };
    let tokens = await tokensFor({ resource: NOTES }, theirs);
    const next = async (): Promise<[MembershipsSeen, MembershipsSeen]> => {
      tokens = (await refresh(at, client, tokens.refresh_token)).json<Tokens>();
      return [inToken(tokens.access_token), inToken(tokens.id_token)];
    };
    expect(inToken(tokens.access_token)).toEqual({});
    await join('staff', eve);
    const all = { groups: ['staff'], roles: ['auditor', 'editor'] };
    expect(await next()).toEqual([all, all]);

    const here = await tokensFor({}, theirs);
    const seen = async (): Promise<MembershipsSeen> => told((await userinfo(at, here.access_token)).json());
    expect(await seen()).toEqual(all);
    await transact(at.deps.db, (trx) =>
      unassignRole(trx, role['auditor null']!, { kind: 'groups', id: group['staff']! }, BY, now()),
    );
    expect(await seen()).toEqual({ groups: ['staff'], roles: ['editor'] });
    await transact(at.deps.db, (trx) =>
      assignRole(trx, role['auditor null']!, { kind: 'groups', id: group['staff']! }, BY, now()),
    );
    await transact(at.deps.db, (trx) => updateGroup(trx, group['staff']!, { name: 'crew' }, BY, now()));
    expect(await seen()).toEqual({ ...all, groups: ['crew'] });
    await transact(at.deps.db, (trx) => updateGroup(trx, group['staff']!, { name: 'staff' }, BY, now()));
    await leave('staff', eve);
    expect([await seen(), ...(await next())]).toEqual([{}, {}, {}]);
  });

  test('that deletes a group, a resource or a person takes the memberships along', async () => {
    const max = await aUser(at);
    const theirs = { user: max, browser: await signIn(at, max) };
    const gone = 'https://gone.example.test';
    await aResource(at, gone, { claims: ['roles'] });
    const { group_id } = await transact(at.deps.db, (trx) => createGroup(trx, at.deps, { name: 'passing' }, BY, now()));
    await transact(at.deps.db, (trx) => addMembers(trx, group_id, [max.sub], BY, now()));
    for (const resource of [gone, null]) {
      const { role_id } = await transact(at.deps.db, (trx) =>
        createRole(trx, at.deps, { name: 'guest', resource }, BY, now()),
      );
      await transact(at.deps.db, (trx) => assignRole(trx, role_id, { kind: 'groups', id: group_id }, BY, now()));
      await transact(at.deps.db, (trx) => assignRole(trx, role_id, { kind: 'users', id: max.sub }, BY, now()));
    }
    const left = async (): Promise<number[]> => {
      const count = async (table: 'roles' | 'group_members' | 'role_users' | 'role_groups'): Promise<number> =>
        (await at.deps.db.selectFrom(table).selectAll().execute()).length;
      return [
        await count('roles'),
        await count('group_members'),
        await count('role_users'),
        await count('role_groups'),
      ];
    };
    expect(inToken((await tokensFor({}, theirs)).id_token)).toEqual({ groups: ['passing'], roles: ['guest'] });
    const before = await left();
    await transact(at.deps.db, (trx) => removeResource(trx, gone, BY, now()));
    expect(await left()).toEqual([before[0]! - 1, before[1]!, before[2]! - 1, before[3]! - 1]);
    await transact(at.deps.db, (trx) => removeGroup(trx, group_id, BY, now()));
    expect(await left()).toEqual([before[0]! - 1, before[1]! - 1, before[2]! - 1, before[3]! - 2]);
    expect(inToken((await tokensFor({}, theirs)).id_token)).toEqual({ roles: ['guest'] });
    await transact(at.deps.db, (trx) => removeAccount(trx, max.sub, BY, now()));
    expect(await left()).toEqual([before[0]! - 1, before[1]! - 1, before[2]! - 2, before[3]! - 2]);
  });
});

describe('the size of tokens', () => {
  let small: TestApp;
  beforeAll(async () => {
    small = await testApp({ database: at.database, config: { TOKEN_SIZE_WARN: 1500, TOKEN_SIZE_MAX: 2500 } });
  });
  afterAll(() => small.close());
  const crowd = async (user: User, names: string[]): Promise<void> => {
    for (const name of names) {
      const { group_id } = await transact(at.deps.db, (trx) => createGroup(trx, at.deps, { name }, BY, now()));
      await transact(at.deps.db, (trx) => addMembers(trx, group_id, [user.sub], BY, now()));
    }
  };
  const long = (prefix: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}`.padEnd(190, 'x'));
  const warnings = (): string[] => small.logged.filter((line) => line.includes('token_large'));

  test('a token above TOKEN_SIZE_WARN is a log line a minute for each client, without the person', async () => {
    const eve = await aUser(at);
    await crowd(eve, long('warn', 4));
    let { tokens } = await someTokens(small, { client, user: eve, parameters: { scope: SCOPE } });
    expect(warnings()).toHaveLength(1);
    expect(JSON.parse(warnings()[0]!)).toMatchObject({ client_id: client.client_id, kind: 'id_token', level: 40 });
    expect(warnings()[0]).not.toContain(eve.sub);
    expect(warnings()[0]).not.toContain('warn0');
    const again = async (): Promise<void> => {
      tokens = (await refresh(small, client, tokens.refresh_token)).json<Tokens>();
    };
    await again();
    expect(warnings()).toHaveLength(1);
    small.clock.advance(61);
    await again();
    expect(warnings()).toHaveLength(2);
  });

  test('above TOKEN_SIZE_MAX a request is refused, and what it presented can be used again', async () => {
    const eve = await aUser(at);
    const theirs = { client, user: eve, browser: await signIn(small, eve), parameters: { scope: SCOPE } };
    const { tokens } = await someTokens(small, theirs);
    const code = await anAuthorizationCode(small, theirs);
    const device = await aDevice(at, { scope: SCOPE });
    const approved = await anApprovedDeviceCode(small, { ...theirs, client: device, fields: { scope: SCOPE } });
    const poll = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', ...credentials(device) };
    const requests = {
      code: () => redeem(small, code),
      refresh: () => refresh(small, client, tokens.refresh_token),
      device: () => postForm(small, '/token', { ...poll, device_code: approved.device_code }),
    };
    const names = long('max', 10);
    await crowd(eve, names);
    const rows = async (): Promise<number> =>
      (await at.deps.db.selectFrom('refresh_tokens').select('hash').execute()).length;
    const before = await rows();
    for (const [name, ask] of Object.entries(requests)) {
      for (let round = 0; round < 2; round += 1) {
        const answer = await ask();
        expect([name, answer.statusCode, answer.json()]).toMatchObject([name, 400, { error: 'invalid_scope' }]);
      }
    }
    expect(await rows()).toBe(before);
    // What narrows helps, where something can be narrowed; userinfo has no limit.
    const narrow = await refresh(small, client, tokens.refresh_token, { scope: 'openid' });
    expect(narrow.statusCode).toBe(200);
    tokens.refresh_token = narrow.json<Tokens>().refresh_token;
    const list = told((await userinfo(small, tokens.access_token)).json()).groups;
    expect(list).toHaveLength(10);

    await at.deps.db.deleteFrom('groups').where('name', 'in', names).execute();
    for (const [name, ask] of Object.entries(requests)) expect([name, (await ask()).statusCode]).toEqual([name, 200]);
    // Used now, and a second use is a replay as ever.
    expect((await requests.code()).json()).toMatchObject({ error: 'invalid_grant' });
  });

  test('within the retry window a refused retry takes nothing from the client', async () => {
    const config = { TOKEN_SIZE_MAX: 2500, REFRESH_TOKEN_RETRY_WINDOW: 30 };
    const patient = await testApp({ database: at.database, config });
    const eve = await aUser(at);
    const { tokens } = await someTokens(patient, { client, user: eve, parameters: { scope: SCOPE } });
    const first = (await refresh(patient, client, tokens.refresh_token)).json<Tokens>();
    patient.clock.advance(1);
    const names = long('retry', 10);
    await crowd(eve, names);
    expect((await refresh(patient, client, tokens.refresh_token)).json()).toMatchObject({ error: 'invalid_scope' });
    await at.deps.db.deleteFrom('groups').where('name', 'in', names).execute();
    expect((await refresh(patient, client, first.refresh_token)).statusCode).toBe(200);
    await patient.close();
  });
});
