/** Pairwise subjects: OpenID Connect Core §8, §17.3; everything a client is told of who somebody is. */
import { compactVerify, decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setClientDisabled } from '../../src/clients/disabling.ts';
import { createKeyRing, ensureKeys, isSaltReadable } from '../../src/keys/index.ts';
import { createSecrets } from '../../src/keys/secrets.ts';
import { random } from '../../src/platform/random.ts';
import { presets, type ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { issueLogoutToken } from '../../src/tokens/logout-token.ts';
import type { User } from '../../src/store/users.ts';
import { TEST_SECRET_KEY, testApp, type TestApp } from '../support/app.ts';
import { aNetwork } from '../support/encryption.ts';
import {
  type AClient,
  aClient,
  aDevice,
  anApprovedDeviceCode,
  aService,
  asOfBefore,
  aUser,
  authorizationUrl,
  BY,
  changeClient,
  credentials,
  introspect,
  postForm,
  refresh,
  signIn,
  someTokens,
  type TestBrowser,
  type Tokens,
  userinfo,
} from '../support/fixtures.ts';
import { decode } from '../support/oauth.ts';

const ISSUER = 'https://id.example.test';
const A = 'https://a.example.test/callback';
const B = 'https://b.example.test/callback';
const SECTOR = 'https://sector.example.test/uris.json';
const network = aNetwork({ [SECTOR]: [A, B] });

let at: TestApp;
let user: User;
let browser: TestBrowser;
let publicClient: AClient;
let a: AClient;
let b: AClient;

const pairwise = (redirect_uri: string, metadata: Partial<ClientMetadataInput> = {}): Promise<AClient> =>
  aClient(at, { subject_type: 'pairwise', redirect_uris: [redirect_uri], skip_consent: true, ...metadata });
const tokensOf = async (client: AClient): Promise<Tokens> => (await someTokens(at, { client, user, browser })).tokens;
const subOf = async (client: AClient): Promise<string> => decodeJwt((await tokensOf(client)).id_token).sub!;

beforeAll(async () => {
  at = await testApp({ fetch: network.fetch });
  user = await aUser(at);
  browser = await signIn(at, user);
  publicClient = await aClient(at, { skip_consent: true });
  a = await pairwise(A);
  b = await pairwise(B);
});
afterAll(() => at.close());

describe('OpenID Connect Core §8.1: who is told what', () => {
  test('a sector has its own sub of a person, always the same, that another sector or a public client never sees', async () => {
    const sub = await subOf(a);
    expect(sub).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await subOf(a)).toBe(sub);
    expect(await subOf(b)).not.toBe(sub);
    expect(await subOf(publicClient)).toBe(user.sub);
    expect([sub, await subOf(b)]).not.toContain(user.sub);
    const other = await aUser(at);
    const theirs = await someTokens(at, { client: a, user: other });
    expect(decodeJwt(theirs.tokens.id_token).sub).not.toBe(sub);
  });

  test('clients of one host are told the same, and so are those of one sector_identifier_uri', async () => {
    expect(await subOf(await pairwise('https://a.example.test/other'))).toBe(await subOf(a));
    const [one, two] = [
      await pairwise(A, { sector_identifier_uri: SECTOR }),
      await pairwise(B, { sector_identifier_uri: SECTOR, redirect_uris: [B, A] }),
    ];
    expect(await subOf(one)).toBe(await subOf(two));
    expect(await subOf(one)).not.toBe(await subOf(a));
  });

  test('the same sub is in the ID token, the access token, userinfo, introspection and after a refresh', async () => {
    const sub = await subOf(a);
    const tokens = await tokensOf(a);
    expect(decodeJwt(tokens.access_token).sub).toBe(sub);
    expect((await userinfo(at, tokens.access_token)).json()).toMatchObject({ sub, email: user.email });
    expect(await introspect(at, a, tokens.access_token)).toMatchObject({ active: true, sub });
    expect(await introspect(at, a, tokens.refresh_token)).toMatchObject({ active: true, sub });
    const refreshed = (await refresh(at, a, tokens.refresh_token)).json<Tokens>();
    expect(decodeJwt(refreshed.id_token).sub).toBe(sub);
    expect(decodeJwt(refreshed.access_token).sub).toBe(sub);
  });

  test('so it is with opaque access tokens, signed userinfo and devices', async () => {
    const sub = await subOf(a);
    const opaque = await pairwise(A, { access_token_format: 'opaque', userinfo_signed_response_alg: 'RS256' });
    const { access_token } = await tokensOf(opaque);
    expect(access_token).not.toContain('.');
    expect(decodeJwt((await userinfo(at, access_token)).body)).toMatchObject({ sub, email: user.email });
    expect(await introspect(at, opaque, access_token)).toMatchObject({ active: true, sub });

    const sectored = { subject_type: 'pairwise', sector_identifier_uri: SECTOR } as const;
    const device = await aDevice(at, sectored);
    const approved = await anApprovedDeviceCode(at, { client: device, user });
    const answer = await postForm(at, '/token', {
      grant_type: presets.device.grant_types[0],
      device_code: approved.device_code,
      ...credentials(device),
    });
    expect(decodeJwt(answer.json<Tokens>().id_token).sub).toBe(await subOf(await pairwise(A, sectored)));
  });

  test('an API that may introspect everything is told what its caller is told', async () => {
    const api = await aService(at, { may_introspect: true });
    const { access_token } = await tokensOf(a);
    expect(await introspect(at, api, access_token)).toMatchObject({ active: true, sub: await subOf(a) });
  });

  test('a client that acts for itself is its client_id', async () => {
    const service = await aService(at, {
      subject_type: 'pairwise',
      sector_identifier_uri: SECTOR,
    });
    const answer = await postForm(at, '/token', { grant_type: 'client_credentials', ...credentials(service) });
    const { access_token } = answer.json<Tokens>();
    expect(decodeJwt(access_token).sub).toBe(service.client_id);
    expect(await introspect(at, service, access_token)).toMatchObject({ sub: service.client_id });
  });

  test('nothing else in the tokens ties two sectors together: no sid, gid or jti is shared, and none is the person’s', async () => {
    const seen = [];
    for (const client of [publicClient, a, b]) {
      const tokens = await tokensOf(client);
      seen.push({ ...decodeJwt(tokens.access_token), ...decodeJwt(tokens.id_token) });
    }
    for (const claim of ['sub', 'sid', 'gid', 'jti', 'at_hash'])
      expect(new Set(seen.map((claims) => claims[claim])).size, claim).toBe(3);
    const [, { sid, sub }] = seen as [unknown, { sid: string; sub: string }];
    expect(sid).not.toBe(sub);
    expect(decodeJwt((await tokensOf(a)).id_token)['sid']).toBe(sid);
  });
});

describe('inside everything keeps the real sub', () => {
  test('grants, and what is recorded of a revocation by a JWT', async () => {
    const { access_token } = await tokensOf(a);
    const { gid } = decode(access_token).payload;
    const revoked = await postForm(at, '/revoke', { token: access_token, ...credentials(a) });
    expect(revoked.statusCode).toBe(200);
    expect(await introspect(at, a, access_token)).toEqual({ active: false });
    const grant = await at.deps.db
      .selectFrom('grants')
      .selectAll()
      .where('grant_id', '=', gid as string)
      .execute();
    expect(grant).toMatchObject([{ sub: user.sub }]);
    // A second time there is no live grant to say whose it was: the pseudonym is not recorded in its place.
    await postForm(at, '/revoke', { token: access_token, ...credentials(a) });
    const events = await at.deps.db
      .selectFrom('audit_events')
      .selectAll()
      .where('event', '=', 'authorization_revoked')
      .orderBy('event_id')
      .execute();
    expect(events.map(({ sub }) => sub)).toEqual([user.sub, null]);
    const sub = await subOf(a);
    expect(at.logged.filter((line) => line.includes(sub))).toEqual([]);
  });

  test('a token for a person who was deleted is worth nothing', async () => {
    const gone = await aUser(at);
    const { tokens } = await someTokens(at, { client: a, user: gone });
    await at.deps.db.deleteFrom('users').where('sub', '=', gone.sub).execute();
    expect((await userinfo(at, tokens.access_token)).statusCode).toBe(401);
  });
});

describe('hints', () => {
  const silent = async (client: AClient, id_token_hint: string, of = browser): Promise<URLSearchParams> => {
    const url = authorizationUrl(ISSUER, client, { prompt: 'none', id_token_hint });
    return new URL((await of.get(url)).headers.location!).searchParams;
  };

  test('OpenID Connect Core §3.1.2.1: the client’s own hint finds the person it was about, and nobody else', async () => {
    const { id_token } = await tokensOf(a);
    expect((await silent(a, id_token)).get('code')).toBeTruthy();
    const stranger = await signIn(at, await aUser(at));
    expect((await silent(a, id_token, stranger)).get('error')).toBe('login_required');
    // A client of the same sector is told the same.
    expect((await silent(await pairwise('https://a.example.test/other'), id_token)).get('code')).toBeTruthy();
  });

  test('another sector’s hint is refused alike for the same person and for another: it would match two subjects', async () => {
    const hints = { a: (await tokensOf(a)).id_token, public: (await tokensOf(publicClient)).id_token };
    const stranger = await signIn(at, await aUser(at));
    for (const of of [browser, stranger]) {
      expect((await silent(b, hints.a, of)).get('error')).toBe('invalid_request');
      expect((await silent(b, hints.public, of)).get('error')).toBe('invalid_request');
      expect((await silent(publicClient, hints.a, of)).get('error')).toBe('invalid_request');
    }
  });

  test('a sign-in page for a hinted person names that person', async () => {
    const { id_token } = await tokensOf(a);
    const url = authorizationUrl(ISSUER, a, { prompt: 'login', id_token_hint: id_token });
    at.clock.advance(1);
    const page = await browser.get((await browser.get(url)).headers.location!);
    expect(page.body).toContain(user.username);
  });

  test('RP-Initiated Logout §2: the client’s hint ends the session without a question', async () => {
    const leaver = await signIn(at, user);
    const { tokens } = await someTokens(at, { client: a, user, browser: leaver });
    const answer = await leaver.get(`${ISSUER}/logout?id_token_hint=${tokens.id_token}`);
    expect(answer.headers.location).toBe(`${ISSUER}/logout/done`);
    // The session of another sign-in is another one: the person is asked.
    const elsewhere = await signIn(at, user);
    expect((await elsewhere.get(`${ISSUER}/logout?id_token_hint=${tokens.id_token}`)).statusCode).toBe(200);
  });

  test('Back-Channel Logout §2.4: a logout token has the sub and sid of its client’s ID tokens', async () => {
    const { sub, sid } = decodeJwt((await tokensOf(a)).id_token);
    const grant = await at.deps.db
      .selectFrom('grants')
      .select(['sub', 'sid', 'sector'])
      .where('client_id', '=', a.client_id)
      .where('sub', '=', user.sub)
      .orderBy('created_at', 'desc')
      .orderBy('grant_id')
      .execute();
    const row = (await at.deps.directory.client(a.client_id))!;
    const told = await Promise.all(grant.map((notice) => issueLogoutToken(at.deps, row, notice, at.clock.now())));
    expect(told.map((token) => decodeJwt(token)['sid'])).toContain(sid);
    for (const token of told) expect(decodeJwt(token).sub).toBe(sub);
  });
});

describe('a pairwise sub is for ever', () => {
  const named = async (keys: string[]): Promise<string> => {
    const secrets = createSecrets(keys, random);
    await ensureKeys(at.deps.db, secrets, ['RS256'], at.clock.now());
    const ring = createKeyRing(at.deps.db, createSecrets([...keys, TEST_SECRET_KEY], random));
    await ring.reload();
    return ring.pseudonym('sub', 'a.example.test', user.sub);
  };
  const NEW = 'another secret key of forty characters!!';

  test('it outlives SECRET_KEYS: at the next start the salt is sealed under the new one', async () => {
    const sub = await subOf(a);
    expect(await named([TEST_SECRET_KEY])).toBe(sub);
    expect(await named([NEW, TEST_SECRET_KEY])).toBe(sub);
    expect(await named([NEW])).toBe(sub);
    // What the doctor says.
    expect(await isSaltReadable(at.deps.db, createSecrets([TEST_SECRET_KEY], random))).toBe(false);
    expect(await isSaltReadable(at.deps.db, createSecrets([NEW], random))).toBe(true);
    // A server that was not restarted yet goes on with what it has.
    await at.deps.keys.reload();
    expect(await subOf(a)).toBe(sub);
    await expect(named([TEST_SECRET_KEY])).rejects.toThrow('the salt of pairwise subjects was sealed under a key');
    expect(await named([TEST_SECRET_KEY, NEW])).toBe(sub);
  });

  test('of processes that start together on a new database one draws the salt', async () => {
    const [one, two] = await Promise.all([testApp(), testApp()]);
    const name = (test: TestApp): string => test.deps.keys.pseudonym('sub', 'a.example.test', user.sub);
    expect(name(one)).not.toBe(name(two));
    const beside = await testApp({ database: one.database });
    expect(name(beside)).toBe(name(one));
    await Promise.all([one.close(), two.close()]);
  });

  test('without a pairwise client a lost key costs no start', async () => {
    const alone = await testApp();
    const secrets = createSecrets([NEW], random);
    await ensureKeys(alone.deps.db, secrets, [], alone.clock.now());
    expect(createSecrets([NEW], random).open((await saltOf(alone))!, 'the salt of pairwise subjects')).toHaveLength(32);
    await alone.close();
  });

  const saltOf = async ({ deps }: TestApp): Promise<Buffer | undefined> =>
    (await deps.db.selectFrom('salts').select('sealed').executeTakeFirst())?.sealed;

  test('OpenID Connect Core §8: whom people have authorized stays in its sector; where nobody has, old hints ask again', async () => {
    const of = await aClient(at, { skip_consent: true, redirect_uris: ['https://c.example.test/callback'] });
    const before = await tokensOf(of);
    const update = (changes: Partial<ClientMetadataInput>): Promise<unknown> => changeClient(at, of, changes);
    await expect(update({ subject_type: 'pairwise' })).rejects.toThrow('cannot change the sector of a client');
    expect((await userinfo(at, before.access_token)).json()).toMatchObject({ sub: user.sub });
    // Nothing hinders any other change.
    expect(await update({ client_name: 'Another' })).toMatchObject({ client_name: 'Another' });
    for (const disabled of [true, false]) {
      await transact(at.deps.db, (trx) => setClientDisabled(trx, of.client_id, disabled, BY, at.clock.now()));
    }
    expect(await update({ subject_type: 'pairwise' })).toMatchObject({ subject_type: 'pairwise' });
    const sub = await subOf(of);
    expect(sub).not.toBe(user.sub);
    const url = authorizationUrl(ISSUER, of, { prompt: 'none', id_token_hint: before.id_token });
    expect(new URL((await browser.get(url)).headers.location!).searchParams.get('error')).toBe('login_required');
    await expect(update({ redirect_uris: ['https://d.example.test/callback'] })).rejects.toThrow('cannot change');
    expect(await update({ redirect_uris: ['https://c.example.test/other'] })).toBeTruthy();
  });

  test.each(['jwt', 'opaque'] as const)(
    'a grant that was given while its client changed goes on in the sector in which it was given (%s)',
    async (access_token_format) => {
      const of = await pairwise('https://e.example.test/callback', { access_token_format });
      const tokens = await tokensOf(of);
      const { sub, sid } = decodeJwt(tokens.id_token);
      // As if it had been given by a server that had not noticed.
      await asOfBefore(at, of, { redirect_uris: [A] });
      expect((await userinfo(at, tokens.access_token)).json()).toMatchObject({ sub });
      expect(await introspect(at, of, tokens.access_token)).toMatchObject({ sub });
      expect(await introspect(at, of, tokens.refresh_token)).toMatchObject({ sub });
      const refreshed = (await refresh(at, of, tokens.refresh_token)).json<Tokens>();
      expect(decodeJwt(refreshed.id_token)).toMatchObject({ sub, sid });
      expect(await introspect(at, of, refreshed.access_token)).toMatchObject({ sub });
      const row = (await at.deps.directory.client(of.client_id))!;
      const notice = await at.deps.db
        .selectFrom('grants')
        .select(['sub', 'sid', 'sector'])
        .where('client_id', '=', of.client_id)
        .executeTakeFirstOrThrow();
      expect(decodeJwt(await issueLogoutToken(at.deps, row, notice, at.clock.now()))).toMatchObject({ sub, sid });
    },
  );

  test('N-1: of a grant from before that was noted, the client says the sector', async () => {
    const tokens = await tokensOf(a);
    await at.deps.db.updateTable('grants').set({ sector: null }).where('client_id', '=', a.client_id).execute();
    const { sub } = decodeJwt(tokens.id_token);
    expect((await userinfo(at, tokens.access_token)).json()).toMatchObject({ sub });
    expect(decodeJwt((await refresh(at, a, tokens.refresh_token)).json<Tokens>().id_token)).toMatchObject({ sub });
  });
});

test('a forged pairwise sub finds nobody: the grant says who it is', async () => {
  const { access_token } = await tokensOf(a);
  const key = await at.deps.keys.find(decode(access_token).header['kid'] as string, at.clock.now());
  const { payload } = await compactVerify(access_token, key!.public_key);
  expect(JSON.parse(new TextDecoder().decode(payload))).not.toMatchObject({ sub: user.sub });
  const [header, , signature] = access_token.split('.');
  const claims = { ...decode(access_token).payload, sub: user.sub };
  const forged = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
  expect((await userinfo(at, forged)).statusCode).toBe(401);
});

test('a client that is deleted while its token is looked at: nobody is told the real sub instead', async () => {
  const { access_token } = await tokensOf(a);
  const api = await aService(at, { may_introspect: true });
  const { directory } = at.deps;
  const { client } = directory;
  let looked = 0;
  directory.client = async (client_id) => (client_id === a.client_id && ++looked > 1 ? undefined : client(client_id));
  const told = await userinfo(at, access_token);
  looked = 0;
  const said = await introspect(at, api, access_token);
  directory.client = client;
  expect(told.statusCode).toBe(401);
  expect(told.body).not.toContain(user.sub);
  expect(said).toEqual({ active: false });
  expect((await userinfo(at, access_token)).statusCode).toBe(200);
});
