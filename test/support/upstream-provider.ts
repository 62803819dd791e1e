/** A provider over real HTTP that says whatever a test has it say: OpenID Connect, or an API alone as GitHub has it. */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { administer } from './administer.ts';
import type { TestApp } from './app.ts';

/** What it answers with for one code. */
export interface Said {
  /** Claims of the ID token, or of its API. */
  claims?: Record<string, unknown>;
  userinfo?: Record<string, unknown>;
  emails?: unknown;
  /** Signed by a key that it does not publish. */
  forged?: boolean;
  /** Instead of tokens. */
  error?: { status: number; body: unknown };
}

export interface UpstreamProvider {
  issuer: string;
  host: string;
  client_id: string;
  client_secret: string;
  /** Members of its metadata, to be changed. */
  metadata: Record<string, unknown>;
  /** What the person does there: returns where their browser is sent. */
  approve(authorization: string | URL, said?: Said, more?: Record<string, string>): string;
  /** How often each path was asked for. */
  asked: Map<string, number>;
  /** A logout token, with these claims beside the usual ones. */
  logoutToken(claims: Record<string, unknown>, header?: { typ?: string; forged?: boolean }): Promise<string>;
  close(): Promise<void>;
}

interface Code {
  challenge: string;
  redirect_uri: string;
  nonce: string | null;
  said: Said;
}

const CLIENT_ID = 'postern-here';
const CLIENT_SECRET = 'a secret that both know';

/** Starts one on a free port of this machine. `now` is by which clock its tokens are. */
export async function anUpstreamProvider(now: () => Date): Promise<UpstreamProvider> {
  const [ours, others] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')];
  const jwk: JWK = { ...(await exportJWK(ours.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  const codes = new Map<string, Code>();
  const tokens = new Map<string, Said>();
  const asked = new Map<string, number>();
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metadata: Record<string, unknown> = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    id_token_signing_alg_values_supported: ['ES256'],
    authorization_response_iss_parameter_supported: true,
  };
  const seconds = (): number => Math.floor(now().getTime() / 1000);
  const sign = (claims: object, key: CryptoKey, typ: string): Promise<string> =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg: 'ES256', kid: 'one', typ }).sign(key);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url!, issuer);
    asked.set(pathname, (asked.get(pathname) ?? 0) + 1);
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (pathname === '/.well-known/openid-configuration') return send(200, metadata);
    if (pathname === '/jwks') return send(200, { keys: [jwk] });
    const bearer = tokens.get((request.headers.authorization ?? '').replace('Bearer ', ''));
    if (pathname === '/userinfo') return send(bearer ? 200 : 401, bearer?.userinfo ?? bearer?.claims);
    if (pathname === '/emails') return send(bearer ? 200 : 401, bearer?.emails);
    if (pathname !== '/token') return send(404, {});
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const form = new URLSearchParams(text);
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const [, basic = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    const shown = Buffer.from(basic, 'base64')
      .toString()
      .split(':')
      .map((part) => decodeURIComponent(part.replaceAll('+', ' ')));
    const known = shown.join(':') === `${CLIENT_ID}:${CLIENT_SECRET}` || form.get('client_secret') === CLIENT_SECRET;
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!known) return send(401, { error: 'invalid_client' });
    if (!code || code.challenge !== challenge || code.redirect_uri !== form.get('redirect_uri')) {
      return send(400, { error: 'invalid_grant' });
    }
    const { said } = code;
    if (said.error) return send(said.error.status, said.error.body);
    const access_token = randomBytes(16).toString('base64url');
    tokens.set(access_token, said);
    const times = { iat: seconds(), exp: seconds() + 300 };
    const claims = { iss: issuer, aud: CLIENT_ID, nonce: code.nonce ?? undefined, ...times, ...said.claims };
    const id_token = await sign(claims, (said.forged ? others : ours).privateKey, 'JWT');
    send(200, { access_token, token_type: 'Bearer', expires_in: 300, ...(code.nonce !== null && { id_token }) });
  }

  return {
    issuer,
    host: new URL(issuer).host,
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    metadata,
    asked,
    approve(authorization, said = {}, more = {}) {
      const { searchParams: sent } = new URL(authorization);
      const code = randomBytes(16).toString('base64url');
      const redirect_uri = sent.get('redirect_uri')!;
      codes.set(code, { challenge: sent.get('code_challenge')!, redirect_uri, nonce: sent.get('nonce'), said });
      return `${redirect_uri}?${new URLSearchParams({ code, state: sent.get('state')!, iss: issuer, ...more }).toString()}`;
    },
    logoutToken: (claims, { typ = 'logout+jwt', forged = false } = {}) =>
      sign(
        {
          iss: issuer,
          aud: CLIENT_ID,
          iat: seconds(),
          exp: seconds() + 120,
          jti: randomBytes(16).toString('base64url'),
          events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
          ...claims,
        },
        (forged ? others : ours).privateKey,
        typ,
      ),
    close: () => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}

/** Registers a provider at a server of ours. */
export const anUpstream = (
  test: TestApp,
  provider: Pick<UpstreamProvider, 'issuer' | 'client_id' | 'client_secret'>,
  upstream: string,
  fields: Record<string, unknown> = {},
): Promise<Record<string, unknown>> => {
  const { issuer, client_id, client_secret } = provider;
  const body = { label: upstream.toUpperCase(), issuer, client_id, client_secret, ...fields };
  return administer(test, 'PUT', '/upstreams/{upstream}', body, { upstream });
};
