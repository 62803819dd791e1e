/**
 * What this server asks of providers, as their client: metadata, where to send somebody, who came back. openid-client judges
 * the answers; every request goes through our own outbound guard, since where a provider's endpoints are is said by the provider.
 */
import type { Configuration, CustomFetch, ExportedJWKSCache, ServerMetadata } from 'openid-client';
import { LRUCache } from 'lru-cache';
import type { Deps } from '../../deps.ts';
import { isLoopbackHost } from '../../protocol/redirect-uri.ts';
import { webUriProblem } from '../../protocol/uri.ts';
import type { Upstream } from '../../store/upstreams.ts';
import { UpstreamRefusal, refusalOf } from './refusal.ts';
import { primaryEmailOf } from './emails.ts';
import { secretFor } from './secret.ts';

/** What a visit to a provider is bound to. Kept sealed until it is answered. */
interface VisitSecrets {
  state: string;
  nonce: string;
  code_verifier: string;
}

/** What is asked of the provider for this visit. */
export interface Wishes {
  login_hint?: string | undefined;
  /** The person is to prove it anew (prompt=login). */
  fresh: boolean;
  /** Seconds since the person last did, at most. */
  max_age?: number | undefined;
  /** Has it to say when that was? One that does not is not believed of somebody who can prove here that it is them. */
  needs_auth_time?: boolean;
}

/** What came back: claims that were checked, and the tokens. */
interface UpstreamAnswer {
  claims: Record<string, unknown>;
  tokens: { access_token: string; refresh_token?: string; scope?: string; expires_in?: number };
}

/** Providers, as this process knows them. */
export interface UpstreamClients {
  /** Where to send somebody. @throws UpstreamRefusal */
  authorizationUrl(row: Upstream, redirect_uri: string, visit: VisitSecrets, wishes: Wishes): Promise<URL>;
  /** Redeems what came back. @throws UpstreamRefusal */
  redeem(row: Upstream, callback: URL, visit: VisitSecrets, now: Date): Promise<UpstreamAnswer>;
  /** Where its keys are, for what it signs and sends by itself. @throws UpstreamRefusal */
  jwksUri(row: Upstream): Promise<{ jwks_uri: string; trusted: boolean; algs: readonly string[] }>;
}

type Needs = Pick<Deps, 'fetch' | 'secrets'>;

/** How long metadata is believed, and of how many providers. */
const TTL_MS = 600_000;
const MAX_PROVIDERS = 100;
/** Seconds for all that one step asks; the guard has its own, shorter limit for each request. */
const TIMEOUT_S = 10;

interface Known {
  metadata: ServerMetadata;
  jwks?: ExportedJWKSCache;
}

// Loaded when somebody first signs in elsewhere: a server may never need it, and starts sooner without.
const load = () => import('openid-client');

/** Clients of all providers. `now` is in milliseconds, monotonic. */
export function createUpstreamClients({ fetch, secrets }: Needs, now: () => number): UpstreamClients {
  const known = new LRUCache<string, Known, Upstream>({
    max: MAX_PROVIDERS,
    ttl: TTL_MS,
    ttlResolution: 0,
    perf: { now },
    // Many at once are one request; one that failed is tried again by the next.
    fetchMethod: async (_key, _stale, { context: row }) => ({ metadata: await discover(row) }),
  });

  /** Only what the operator named is exempt from the guard: never what the provider's metadata names beside it. */
  const guarded =
    (row: Upstream): CustomFetch =>
    async (address, { method, headers, body }) => {
      const answer = await fetch(address, {
        method: method === 'POST' ? 'POST' : 'GET',
        headers,
        ...(body !== undefined && body !== null && { body: String(body as string | URLSearchParams) }),
        trusted: isNamed(row, address),
      });
      const kept = ['content-type', 'www-authenticate', 'dpop-nonce'];
      const given = kept.flatMap((name): Array<[string, string]> => {
        const value = answer.headers.get(name);
        return value === null ? [] : [[name, value]];
      });
      const empty = [204, 205, 304].includes(answer.status);
      return new Response(empty ? null : new Uint8Array(answer.bytes), { status: answer.status, headers: given });
    };

  const discover = async (row: Upstream): Promise<ServerMetadata> => {
    const client = await load();
    const found = await client.discovery(new URL(row.issuer), row.client_id, {}, client.None(), {
      [client.customFetch]: guarded(row),
      // Whether http will do is the guard's decision, for each address.
      execute: [client.allowInsecureRequests],
      timeout: TIMEOUT_S,
    });
    const metadata = structuredClone({ ...found.serverMetadata() }) as ServerMetadata;
    const { authorization_endpoint } = metadata;
    if (authorization_endpoint === undefined || !isPlaceFor(row, authorization_endpoint)) {
      throw new UpstreamRefusal('unusable', 'its authorization_endpoint is no address that people can be led to');
    }
    return metadata;
  };

  const metadataOf = async (row: Upstream): Promise<Known> => {
    if (row.kind === 'oidc') {
      try {
        return (await known.fetch(row.issuer, { context: row }))!;
      } catch (error) {
        throw refusalOf(error);
      }
    }
    const { issuer, authorization_endpoint, token_endpoint, userinfo_endpoint } = row;
    const named = { authorization_endpoint, token_endpoint, userinfo_endpoint };
    return { metadata: { issuer, ...(named as Record<keyof typeof named, string>) } };
  };

  const configurationOf = async (row: Upstream, at: Date | undefined): Promise<[Configuration, Known]> => {
    const client = await load();
    const found = await metadataOf(row);
    const secret = at && (await secretFor({ secrets }, row, at));
    const auth =
      secret === undefined
        ? client.None()
        : row.token_endpoint_auth_method === 'client_secret_post'
          ? client.ClientSecretPost(secret)
          : client.ClientSecretBasic(secret);
    const configuration = new client.Configuration(found.metadata, row.client_id, {}, auth);
    configuration[client.customFetch] = guarded(row);
    configuration.timeout = TIMEOUT_S;
    client.allowInsecureRequests(configuration);
    // The signature too, and not only where the token came from.
    if (row.kind === 'oidc') client.enableNonRepudiationChecks(configuration);
    if (found.jwks) client.setJwksCache(configuration, found.jwks);
    return [configuration, found];
  };

  return {
    async authorizationUrl(row, redirect_uri, { state, nonce, code_verifier }, { login_hint, fresh, max_age }) {
      const client = await load();
      const [configuration] = await configurationOf(row, undefined);
      const oidc = row.kind === 'oidc';
      const parameters = {
        redirect_uri,
        scope: row.scope.join(' '),
        state,
        code_challenge: await client.calculatePKCECodeChallenge(code_verifier),
        code_challenge_method: 'S256',
        ...(oidc && { nonce }),
        // OpenID Connect Core §3.1.2.1: with max_age it has to say when the person signed in.
        ...(oidc && fresh && { prompt: 'login', max_age: '0' }),
        ...(oidc && !fresh && max_age !== undefined && { max_age: String(max_age) }),
        ...(oidc && login_hint !== undefined && { login_hint }),
        ...(row.response_mode !== null && { response_mode: row.response_mode }),
      };
      try {
        return client.buildAuthorizationUrl(configuration, parameters);
      } catch (error) {
        throw refusalOf(error);
      }
    },

    async redeem(row, callback, { state, nonce, code_verifier }, at) {
      const client = await load();
      const [configuration, found] = await configurationOf(row, at);
      const oidc = row.kind === 'oidc';
      try {
        const answer = await client.authorizationCodeGrant(configuration, callback, {
          expectedState: state,
          pkceCodeVerifier: code_verifier,
          ...(oidc ? { expectedNonce: nonce, idTokenExpected: true } : {}),
        });
        const jwks = client.getJwksCache(configuration);
        if (jwks) found.jwks = jwks;
        const { access_token, refresh_token, scope, expires_in } = answer;
        const id_token: Record<string, unknown> = { ...answer.claims() };
        return {
          claims: oidc
            ? await withUserinfo(client, configuration, row, access_token, id_token)
            : await fromApi(client, configuration, row, access_token),
          tokens: {
            access_token,
            ...(refresh_token !== undefined && { refresh_token }),
            ...(scope !== undefined && { scope }),
            ...(expires_in !== undefined && { expires_in }),
          },
        };
      } catch (error) {
        throw refusalOf(error);
      }
    },

    async jwksUri(row) {
      const { metadata } = await metadataOf(row);
      const { jwks_uri, id_token_signing_alg_values_supported: algs } = metadata;
      if (jwks_uri === undefined) throw new UpstreamRefusal('unusable', 'it publishes no keys');
      return { jwks_uri, trusted: isNamed(row, jwks_uri), algs: algs ?? ['RS256'] };
    },
  };
}

type Client = Awaited<ReturnType<typeof load>>;

/** The claims of the ID token, with those that only userinfo has (OpenID Connect Core §5.3.2: of the same person). */
async function withUserinfo(
  client: Client,
  configuration: Configuration,
  row: Upstream,
  access_token: string,
  id_token: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const wanted = ['email', 'name'].filter((claim) => row.scope.includes(claim === 'name' ? 'profile' : claim));
  const missing = wanted.some((claim) => id_token[row.claims[claim as 'email' | 'name'] ?? claim] === undefined);
  if (!missing || configuration.serverMetadata().userinfo_endpoint === undefined) return id_token;
  const userinfo = await client.fetchUserInfo(configuration, access_token, String(id_token['sub']));
  return { ...userinfo, ...id_token };
}

/** Who somebody is, where only an API says so. */
async function fromApi(
  client: Client,
  configuration: Configuration,
  row: Upstream,
  access_token: string,
): Promise<Record<string, unknown>> {
  const read = async (address: string): Promise<unknown> => {
    const headers = new Headers({ accept: 'application/json' });
    const url = new URL(address);
    const answer = await client.fetchProtectedResource(configuration, access_token, url, 'GET', undefined, headers);
    if (answer.status >= 500) throw new UpstreamRefusal('unavailable', `${url.pathname} answered ${answer.status}`);
    if (answer.status !== 200) throw new UpstreamRefusal('unusable', `${url.pathname} answered ${answer.status}`);
    return answer.json();
  };
  const person = await read(row.userinfo_endpoint!);
  if (typeof person !== 'object' || person === null) throw new UpstreamRefusal('unusable', 'its API names nobody');
  if (row.emails_endpoint === null) return { ...person };
  return { ...person, ...primaryEmailOf(await read(row.emails_endpoint)) };
}

const originOf = (address: string): string | undefined => URL.parse(address)?.origin;

/** Did an operator name this place, by the issuer or by an endpoint? */
const isNamed = (row: Upstream, address: string): boolean =>
  [row.issuer, row.token_endpoint, row.userinfo_endpoint, row.emails_endpoint].some(
    (named) => named !== null && originOf(named) === originOf(address),
  );

/** May a browser be led there? Over https; over http only where the operator's own issuer is, on this machine. */
function isPlaceFor(row: Upstream, address: string): boolean {
  if (webUriProblem(address) !== undefined) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (isLoopbackHost(hostname) && isLoopbackHost(new URL(row.issuer).hostname));
}
