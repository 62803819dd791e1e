/** Codes and refresh tokens under many hands at once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeClient } from '../../src/clients/register.ts';
import { endSession } from '../../src/sessions/index.ts';
import * as authorizationCodes from '../../src/store/authorization-codes.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { bucketOf, drawHandle, drawId, readHandle } from '../../src/protocol/handle.ts';
import * as grants from '../../src/store/grants.ts';
import * as refreshTokens from '../../src/store/refresh-tokens.ts';
import * as sessions from '../../src/store/sessions.ts';
import { setDisabled, setPassword } from '../../src/users/accounts.ts';
import { disconnectApplication } from '../../src/users/applications.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  aClient,
  anAuthorizationCode,
  aUser,
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
  type ACode,
  type TestBrowser,
  type Tokens,
} from '../support/fixtures.ts';
import { atOnce, connected, overtaken, tally } from '../support/races.ts';

const REQUESTER = { ip: '192.0.2.1', network: '192.0.2.1', request_id: 'a race' };
const LATER = 3600;

let database: TestDatabase;
let at: TestApp;
/** A second process on the same database, and one with a retry window. */
let other: TestApp;
let lenient: TestApp;
let client: AClient;
let opaque: AClient;
let auditor: AClient;

beforeAll(async () => {
  database = await createTestDatabase({ max: 20 });
  await connected(database.db, 20);
  const strict = { config: { REFRESH_TOKEN_RETRY_WINDOW: 0 } };
  at = await testApp({ database, ...strict });
  const { clock } = at;
  other = await testApp({ database, clock, ...strict });
  lenient = await testApp({ database, clock, config: { REFRESH_TOKEN_RETRY_WINDOW: 30 } });
  client = await aClient(at, { skip_consent: true });
  opaque = await aClient(at, { skip_consent: true, access_token_format: 'opaque' });
  auditor = await aClient(at, { may_introspect: true });
});
afterAll(async () => {
  for (const app of [at, other, lenient]) await app.close();
  await database.close();
});

/** What the applications complained of, for the message of a failure. */
const troubles = (): string =>
  [...at.logged, ...other.logged]
    .filter((line) => /"level":[456]0/.test(line))
    .join('')
    .slice(0, 2000);

/** What is left of a family: its tokens by their own client, or another's eyes where that is gone. */
async function isAlive({ access_token, refresh_token }: Tokens, { app, deps, clock }: TestApp = at): Promise<boolean> {
  const access = await introspect({ app, deps }, auditor, access_token);
  const info = await userinfo({ app, deps }, access_token);
  const live = await refreshTokens.findLive(deps.db, readHandle(refresh_token)!, clock.now());
  return access.active || info.statusCode === 200 || live !== undefined;
}

describe('one code, many redemptions', () => {
  test('RFC 6749 §4.1.2: of 50 at once over two processes at most one gets tokens, and those are revoked', async () => {
    const user = await aUser(at);
    const browser = await signIn(at, user);
    for (let round = 0; round < 20; round += 1) {
      const code = await anAuthorizationCode(at, { client: round % 2 === 0 ? client : opaque, user, browser });
      const answers = await atOnce(50, (index) => redeem(index % 2 === 0 ? at : other, code));
      expect(tally(answers.map(({ statusCode }) => statusCode)), troubles()).toEqual({ 200: 1, 400: 49 });
      const refused = answers.filter(({ statusCode }) => statusCode === 400);
      expect(new Set(refused.map((answer) => answer.json<{ error: string }>().error))).toEqual(
        new Set(['invalid_grant']),
      );
      const winner = answers.find(({ statusCode }) => statusCode === 200)!.json<Tokens>();
      expect(await isAlive(winner)).toBe(false);
    }
  });

  test('strangers and wrong verifiers among the racers neither spend the code nor revoke it', async () => {
    const code = await anAuthorizationCode(at, { client });
    const wrong = [
      { code_verifier: 'x'.repeat(43) },
      credentials(opaque),
      { redirect_uri: 'https://app.example.test/other' },
    ];
    const answers = await atOnce(40, (index) => redeem(at, code, index === 20 ? {} : wrong[index % wrong.length]));
    expect(tally(answers.map(({ statusCode }) => statusCode))).toEqual({ 200: 1, 400: 39 });
    expect(await isAlive(answers[20]!.json<Tokens>())).toBe(true);
  });
});

describe('one refresh token, many refreshes', () => {
  test('RFC 9700 §4.14.2: strict, at most one of 50 is answered, and the authorization is over', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { tokens } = await someTokens(at, { client });
      const answers = await atOnce(50, (index) => refresh(index % 2 === 0 ? at : other, client, tokens.refresh_token));
      expect(tally(answers.map(({ statusCode }) => statusCode))).toEqual({ 200: 1, 400: 49 });
      const winner = answers.find(({ statusCode }) => statusCode === 200)!.json<Tokens>();
      expect([await isAlive(tokens), await isAlive(winner)]).toEqual([false, false]);
    }
  });

  test('with a retry window every one of 50 gets the same successor, which works once', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { tokens } = await someTokens(lenient, { client });
      const answers = await atOnce(50, () => refresh(lenient, client, tokens.refresh_token));
      expect(tally(answers.map(({ statusCode }) => statusCode))).toEqual({ 200: 50 });
      const given = answers.map((answer) => answer.json<Tokens>());
      expect(new Set(given.map(({ refresh_token }) => refresh_token)).size).toBe(1);
      // Each has an access token of its own, and all of them live.
      expect(new Set(given.map(({ access_token }) => access_token)).size).toBe(50);
      expect(await isAlive(given[7]!)).toBe(true);
      // Once the successor was used, the first token is a reuse again.
      const next = await refresh(lenient, client, given[0]!.refresh_token);
      expect(next.statusCode).toBe(200);
      expect((await refresh(lenient, client, tokens.refresh_token)).statusCode).toBe(400);
      expect(await isAlive(next.json<Tokens>())).toBe(false);
    }
  });

  test('a narrowing beyond the grant among the racers does not spend the token', async () => {
    const { tokens } = await someTokens(at, { client });
    const answers = await atOnce(10, () => refresh(at, client, tokens.refresh_token, { scope: 'openid address' }));
    expect(new Set(answers.map((answer) => answer.json<{ error: string }>().error))).toEqual(
      new Set(['invalid_scope']),
    );
    expect(await isAlive(tokens)).toBe(true);
  });
});

type Family = ACode & { tokens: Tokens };
type Answer = Awaited<ReturnType<typeof refresh>>;
const sidOf = ({ tokens }: Family): string =>
  (JSON.parse(Buffer.from(tokens.id_token.split('.')[1]!, 'base64url').toString()) as { sid: string }).sid;

/** Everything that ends a family. */
const ENDINGS: Record<string, (family: Family) => Promise<unknown>> = {
  'revocation by access token': ({ client, tokens }) =>
    postForm(at, '/revoke', { token: tokens.access_token, ...credentials(client) }),
  'revocation by refresh token': ({ client, tokens }) =>
    postForm(at, '/revoke', { token: tokens.refresh_token, ...credentials(client) }),
  'replay of its code': (family) => redeem(at, family),
  'sign-out': (family) =>
    transact(at.deps.db, (trx) =>
      endSession(trx, { sid: sidOf(family), sub: family.user.sub }, REQUESTER, at.clock.now()),
    ),
  'disabling the person': ({ user }) =>
    transact(at.deps.db, (trx) => setDisabled(trx, user.sub, true, BY, at.clock.now())),
  'a password change': ({ user }) => setPassword(at.deps, user.sub, 'another long password', BY, at.clock.now()),
  'taking the application back': ({ client, user }) =>
    disconnectApplication(other.deps, user.sub, client.client_id, BY, at.clock.now()),
  'deletion of the client': ({ client }) =>
    transact(at.deps.db, (trx) => removeClient(trx, client.client_id, BY, at.clock.now())),
};

describe('a refresh racing what ends its family leaves no live token behind', () => {
  test.each(Object.keys(ENDINGS))('%s', async (name) => {
    for (let round = 0; round < 8; round += 1) {
      const own = await aClient(at, {
        skip_consent: true,
        access_token_format: round % 2 === 0 ? 'jwt' : 'opaque',
      });
      const app = round < 4 ? at : lenient;
      const family = await someTokens(at, { client: own });
      // Now the one is started first, now the other.
      const answers: Answer[] = [];
      await atOnce(4, async (index) => {
        if (index === round % 4) await ENDINGS[name]!(family);
        else answers.push(await refresh(app, own, family.tokens.refresh_token));
      });
      const given = answers.filter(({ statusCode }) => statusCode === 200).map((answer) => answer.json<Tokens>());
      for (const tokens of [family.tokens, ...given]) expect(await isAlive(tokens)).toBe(false);
    }
  });

  test('fifty at once over two servers, of five families, while their person takes the application back', async () => {
    const own = await aClient(at, { skip_consent: true });
    const user = await aUser(at);
    const browser = await signIn(at, user);
    const families: Family[] = [];
    for (let n = 0; n < 5; n += 1) families.push(await someTokens(at, { client: own, user, browser }));
    const answers: Answer[] = [];
    await atOnce(51, async (index) => {
      if (index === 9) await disconnectApplication(other.deps, user.sub, own.client_id, BY, at.clock.now());
      else answers.push(await refresh(index % 3 ? lenient : at, own, families[index % 5]!.tokens.refresh_token));
    });
    const given = answers.filter(({ statusCode }) => statusCode === 200).map((answer) => answer.json<Tokens>());
    expect(answers.filter(({ statusCode }) => statusCode >= 500)).toEqual([]);
    for (const { tokens } of families) given.push(tokens);
    for (const tokens of given) expect(await isAlive(tokens)).toBe(false);
  });

  test('a rotation that commits while the revocation is still open is dead when that commits', async () => {
    const { tokens, user } = await someTokens(at, { client });
    let rotated: Tokens | undefined;
    await at.deps.db.transaction().execute(async (trx) => {
      await grants.revokeAllOf(trx, { sub: user.sub }, 'user_disabled', at.clock.now());
      const answer = await refresh(at, client, tokens.refresh_token);
      expect(answer.statusCode).toBe(200);
      rotated = answer.json<Tokens>();
      expect(await isAlive(rotated)).toBe(true);
    });
    expect(await isAlive(rotated!)).toBe(false);
  });
});

describe('a code issued while its session ends gives nothing', () => {
  /** What a browser's cookie leads to, and a code that could be written on it. */
  async function aNewCode(browser: TestBrowser): Promise<authorizationCodes.NewCode> {
    const session = readHandle(browser.cookies.get('__Host-postern_session')!)!;
    const expires_at = new Date(at.clock.now().getTime() + LATER * 1000);
    return {
      code: drawHandle(at.deps.random, expires_at),
      grant: {
        grant_id: drawId(at.deps.random, expires_at),
        expires_at,
        client_id: client.client_id,
        scope: ['openid'],
        resource: [],
        acr: '1',
        offline: false,
        requested_claims: null,
        authorization_details: null,
        sector: '',
        confidential: true,
      },
      redirect_uri: client.redirect_uri,
      registered_uri: client.redirect_uri,
      registered_resources: [],
      code_challenge: null,
      dpop_jkt: null,
      nonce: null,
      expires_at,
      session,
      interaction: null,
      pushed: null,
    };
  }
  async function aSignedIn(): Promise<{ browser: TestBrowser; session: sessions.SessionRow }> {
    const browser = await signIn(at, await aUser(at));
    const key = readHandle(browser.cookies.get('__Host-postern_session')!)!;
    const now = at.clock.now();
    return { browser, session: (await sessions.findLive(at.deps.db, [key], now, new Date(0)))[0]! };
  }

  test('sign-out first: the code waits for it, and is not written', async () => {
    const { browser, session } = await aSignedIn();
    const code = await aNewCode(browser);
    const now = at.clock.now();
    const [ended, issued] = await overtaken(
      at.deps.db,
      (trx) => sessions.end(trx, session.sid, now),
      () => authorizationCodes.issue(at.deps.db, code, now),
    );
    expect([ended, issued]).toEqual([true, false]);
    expect(await grants.findLive(at.deps.db, code.grant.grant_id, now)).toBeUndefined();
  });

  test.each<[string, (session: sessions.SessionRow, now: Date) => Promise<unknown>]>([
    ['sign-out', (session, now) => transact(at.deps.db, (trx) => endSession(trx, session, REQUESTER, now))],
    ['disabling', ({ sub }, now) => transact(at.deps.db, (trx) => setDisabled(trx, sub, true, BY, now))],
    ['a password change', ({ sub }, now) => setPassword(at.deps, sub, 'another long password', BY, now)],
  ])('the code first: %s waits for it, and ends its grant', async (_name, end) => {
    const { browser, session } = await aSignedIn();
    const code = await aNewCode(browser);
    const now = at.clock.now();
    const [issued] = await overtaken(
      at.deps.db,
      (trx) => authorizationCodes.issue(trx, code, now),
      () => end(session, now),
    );
    expect(issued).toBe(true);
    expect(await grants.findLive(at.deps.db, code.grant.grant_id, now)).toBeUndefined();
    expect(bucketOf(code.grant.expires_at)).toBe(code.code.expires_bucket);
  });

  test('twenty requests of a browser that signs out leave no live grant', async () => {
    const { browser, session } = await aSignedIn();
    const now = at.clock.now();
    const codes = await atOnce(20, async (index) => {
      if (index === 10) return transact(at.deps.db, (trx) => endSession(trx, session, REQUESTER, now));
      return authorizationCodes.issue(at.deps.db, await aNewCode(browser), now);
    });
    expect(codes).toHaveLength(20);
    const live = await at.deps.db
      .selectFrom('grants')
      .select('grant_id')
      .where('sid', '=', session.sid)
      .where('revoked_at', 'is', null)
      .execute();
    expect(live).toEqual([]);
  });
});
