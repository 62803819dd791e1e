/** What each request costs the database: counted where every statement passes, in pg's client. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  anAuthorizationCode,
  aService,
  authorizationUrl,
  aVerifier,
  credentials,
  introspect,
  postForm,
  redeem,
  refresh,
  someTokens,
  userinfo,
  type ACode,
  type AClient,
  type Tokens,
} from '../support/fixtures.ts';
import { aResource } from '../support/oauth.ts';

let statements: string[] = [];
const query = pg.Client.prototype.query;
let at: TestApp;
let client: AClient;
let code: ACode;
let tokens: Tokens;

beforeAll(async () => {
  pg.Client.prototype.query = function counted(this: pg.Client, ...given: unknown[]) {
    const [first] = given;
    statements.push(typeof first === 'string' ? first : (first as { text: string }).text);
    return (query as (...all: unknown[]) => unknown).apply(this, given);
  } as typeof query;
  at = await testApp();
  client = await aClient(at, { skip_consent: true });
  ({ tokens, ...code } = await someTokens(at, { client }));
});
afterAll(async () => {
  pg.Client.prototype.query = query;
  await at.close();
});
beforeEach(async () => {
  // Whatever is kept for seconds is read before the count begins.
  await at.deps.directory.client(client.client_id);
  await at.deps.directory.scopes();
  await at.deps.directory.resources();
  await at.deps.directory.themes();
  statements = [];
});

const isWrite = (statement: string): boolean => /\b(?:insert into|update|delete from)\b/i.test(statement);
/** What `work` asked of the database: all statements, and those that write. */
async function costOf(
  work: () => Promise<{ statusCode: number }>,
  status = 200,
): Promise<[all: number, writes: number]> {
  statements = [];
  const { statusCode } = await work();
  expect(statusCode).toBe(status);
  return [statements.length, statements.filter(isWrite).length];
}
const warm = async <T>(work: () => Promise<T>): Promise<() => Promise<T>> => {
  await work();
  return work;
};

describe('POST /token', () => {
  test('client_credentials with a JWT asks the database nothing, once its client is known', async () => {
    const service = await aService(at);
    const work = await warm(() =>
      postForm(at, '/token', { grant_type: 'client_credentials', ...credentials(service) }),
    );
    expect(await costOf(work)).toEqual([0, 0]);
  });

  test('client_credentials for a client not seen for ten seconds reads four tables', async () => {
    const service = await aService(at);
    at.deps.directory.clear();
    const work = (): ReturnType<typeof postForm> =>
      postForm(at, '/token', { grant_type: 'client_credentials', ...credentials(service) });
    expect(await costOf(work)).toEqual([4, 0]);
  });

  test('a code is exchanged in one statement', async () => {
    const fresh = await anAuthorizationCode(at, code);
    expect(await costOf(() => redeem(at, fresh))).toEqual([1, 1]);
  });

  test('a refresh is one statement', async () => {
    const answer = await refresh(at, client, tokens.refresh_token);
    tokens = answer.json<Tokens>();
    expect(await costOf(() => refresh(at, client, tokens.refresh_token))).toEqual([1, 1]);
  });

  test('claims asked for by name cost nothing more, on any path', async () => {
    const claims = '{"userinfo":{"name":null},"id_token":{"given_name":null}}';
    const { code_verifier, code_challenge } = aVerifier();
    const asked = { scope: 'openid', claims, prompt: 'none', code_challenge, code_challenge_method: 'S256' };
    let location = '';
    const work = async (): Promise<{ statusCode: number }> => {
      const answer = await code.browser.get(authorizationUrl(at.deps.config.ISSUER, client, asked));
      location = answer.headers.location!;
      return answer;
    };
    expect(await costOf(work, 302)).toEqual([3, 1]);
    const fresh = { ...code, code: new URL(location).searchParams.get('code')!, code_verifier };
    let given = {} as Tokens;
    const keep = async (answer: ReturnType<typeof redeem>): Promise<{ statusCode: number }> => {
      given = (await answer).json<Tokens>();
      return answer;
    };
    expect(await costOf(() => keep(redeem(at, fresh)))).toEqual([1, 1]);
    expect(await costOf(() => keep(refresh(at, client, given.refresh_token)))).toEqual([1, 1]);
    expect(await costOf(() => userinfo(at, given.access_token))).toEqual([1, 0]);
    expect((await userinfo(at, given.access_token)).json()).toHaveProperty('name');
  });

  test('groups and roles cost nothing more, on any path', async () => {
    const resource = 'https://members.example.test';
    await aResource(at, resource, { claims: ['groups', 'roles'], access_token_format: 'opaque' });
    const asked = { scope: 'openid groups roles' };
    const member = await aClient(at, { skip_consent: true, scope: asked.scope });
    const fresh = await anAuthorizationCode(at, { ...code, client: member, parameters: asked });
    await at.deps.directory.resources();
    let given = {} as Tokens;
    const keep = async (answer: ReturnType<typeof redeem>): Promise<{ statusCode: number }> => {
      given = (await answer).json<Tokens>();
      return answer;
    };
    expect(await costOf(() => keep(redeem(at, fresh)))).toEqual([1, 1]);
    expect(await costOf(() => keep(refresh(at, member, given.refresh_token)))).toEqual([1, 1]);
    expect(await costOf(() => userinfo(at, given.access_token))).toEqual([1, 0]);
    const there = await anAuthorizationCode(at, { ...code, client: member, parameters: { ...asked, resource } });
    await keep(redeem(at, there));
    const work = (): ReturnType<typeof postForm> =>
      postForm(at, '/introspect', { token: given.access_token, ...credentials(member) });
    expect(await costOf(work)).toEqual([1, 0]);
  });

  test('an opaque access token is one read more: it is made first, and written by what spends the code', async () => {
    const opaque = await aClient(at, { skip_consent: true, access_token_format: 'opaque' });
    const fresh = await anAuthorizationCode(at, { ...code, client: opaque });
    let given = {} as Tokens;
    const keep = async (answer: ReturnType<typeof redeem>): Promise<{ statusCode: number }> => {
      given = (await answer).json<Tokens>();
      return answer;
    };
    expect(await costOf(() => keep(redeem(at, fresh)))).toEqual([2, 1]);
    expect(await costOf(() => keep(refresh(at, opaque, given.refresh_token)))).toEqual([2, 1]);
  });

  test('a code of nobody is looked for in one transaction, and nothing is written for it', async () => {
    const unknown = { ...code, code: `g00_${'x'.repeat(43)}` };
    const [all] = await costOf(() => redeem(at, unknown), 400);
    expect(all).toBeLessThanOrEqual(4);
    expect(statements.filter((statement) => /^insert/i.test(statement))).toEqual([]);
  });
});

describe('what a token means', () => {
  beforeEach(async () => {
    ({ tokens } = await someTokens(at, code));
  });

  test('userinfo is one read', async () => {
    expect(await costOf(() => userinfo(at, tokens.access_token))).toEqual([1, 0]);
  });

  test('introspection of a JWT is one read', async () => {
    const work = (): ReturnType<typeof postForm> =>
      postForm(at, '/introspect', { token: tokens.access_token, ...credentials(client) });
    expect(await costOf(work)).toEqual([1, 0]);
  });

  test('introspection of a refresh token is two reads at most, and so is that of an unknown one', async () => {
    const ask = (token: string) => (): ReturnType<typeof postForm> =>
      postForm(at, '/introspect', { token, ...credentials(client) });
    for (const token of [tokens.refresh_token, `g00_${'x'.repeat(43)}`]) {
      const [all, writes] = await costOf(ask(token));
      expect([all <= 2, writes]).toEqual([true, 0]);
    }
    expect(await costOf(ask('x'.repeat(40)))).toEqual([0, 0]);
    expect(await introspect(at, client, tokens.refresh_token)).toMatchObject({ active: true });
  });

  test('a grant is revoked, and that is written down, in one statement; by a refresh token it is found first', async () => {
    const revoke = (token: string) => (): ReturnType<typeof postForm> =>
      postForm(at, '/revoke', { token, ...credentials(client) });
    expect(await costOf(revoke(tokens.access_token))).toEqual([1, 1]);
    expect(await costOf(revoke(tokens.refresh_token))).toEqual([2, 1]);
  });

  test('introspection of a token of no grant is one read', async () => {
    const service = await aService(at);
    const grant = await postForm(at, '/token', { grant_type: 'client_credentials', ...credentials(service) });
    const { access_token } = grant.json<Tokens>();
    const work = await warm(() => postForm(at, '/introspect', { token: access_token, ...credentials(service) }));
    expect(await costOf(work)).toEqual([1, 0]);
  });
});

describe('browsers', () => {
  const request = (parameters: Record<string, string> = {}): string => {
    const { code_challenge } = aVerifier();
    const pkce = { code_challenge, code_challenge_method: 'S256' };
    return authorizationUrl(at.deps.config.ISSUER, client, { ...pkce, ...parameters });
  };

  test('a silent /authorize is three: the session, the consent, and the code in one', async () => {
    const work = (): Promise<{ statusCode: number }> => code.browser.get(request({ prompt: 'none' }));
    expect(await costOf(work, 302)).toEqual([3, 1]);
  });

  test('/authorize of a stranger is one write: the interaction', async () => {
    const work = (): Promise<{ statusCode: number }> =>
      at.app.inject({
        method: 'GET',
        url: request().slice(at.deps.config.ISSUER.length),
        headers: { host: 'id.example.test' },
      });
    expect(await costOf(work, 302)).toEqual([1, 1]);
  });

  test('the account page is two reads', async () => {
    expect(await costOf(() => code.browser.get('/account'))).toEqual([2, 0]);
  });
});

test.each(['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server', '/jwks', '/livez'])(
  '%s asks the database nothing, once the rules are known',
  async (url) => {
    expect(await costOf(await warm(() => at.app.inject({ method: 'GET', url })))).toEqual([0, 0]);
  },
);
