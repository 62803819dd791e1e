/** The peer: oidc-provider with what it stores in this process' memory. Settings are as close to ours as it lets them be. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { Provider, type Adapter, type AdapterPayload, type Configuration } from 'oidc-provider';
import { KINDS, REDIRECT_URI, resourceOf, type Kind } from '../shared.ts';

/** Its own store in memory forgets after 1000 entries; this one keeps them. */
class Memory implements Adapter {
  static readonly entries = new Map<string, AdapterPayload>();
  static readonly members = new Map<string, Set<string>>();
  readonly #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  #key(id: string): string {
    return `${this.#model}:${id}`;
  }

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    const key = this.#key(id);
    Memory.entries.set(key, payload);
    if (this.#model === 'Session' && payload.uid !== undefined) Memory.entries.set(`uid:${payload.uid}`, payload);
    if (payload.grantId === undefined || this.#model === 'Session') return;
    const members = Memory.members.get(payload.grantId);
    if (members) members.add(key);
    else Memory.members.set(payload.grantId, new Set([key]));
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return Memory.entries.get(this.#key(id));
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return Memory.entries.get(`uid:${uid}`);
  }

  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async consume(id: string): Promise<void> {
    Memory.entries.get(this.#key(id))!.consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    Memory.entries.delete(this.#key(id));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const key of Memory.members.get(grantId) ?? []) Memory.entries.delete(key);
    Memory.members.delete(grantId);
  }
}

const port = Number(process.env['PORT']);
const CLIENT_ID = 'bench';
const CLIENT_SECRET = 'a-secret-of-the-length-of-one-of-ours-43-ch';
const PERSON = 'ada';

const jwkOf = (pair: { privateKey: KeyObject }, alg: string) => ({
  ...(pair.privateKey.export({ format: 'jwk' }) as { kty: 'RSA' }),
  kid: alg,
  alg,
  use: 'sig' as const,
});
const keys = [
  jwkOf(generateKeyPairSync('rsa', { modulusLength: 2048 }), 'RS256'),
  jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'ES256'),
  jwkOf(generateKeyPairSync('ed25519'), 'EdDSA'),
];
const ALGS: Record<Kind, 'RS256' | 'ES256' | 'EdDSA' | undefined> = {
  rs256: 'RS256',
  es256: 'ES256',
  eddsa: 'EdDSA',
  opaque: undefined,
};

const configuration: Configuration = {
  adapter: Memory,
  jwks: { keys },
  clients: [
    {
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      redirect_uris: [REDIRECT_URI],
      id_token_signed_response_alg: 'ES256',
      scope: 'openid profile email offline_access jobs:read',
    },
  ],
  scopes: ['openid', 'profile', 'email', 'offline_access', 'jobs:read'],
  claims: { openid: ['sub'], profile: ['name', 'given_name', 'family_name'], email: ['email', 'email_verified'] },
  // Ours has the person's claims in the ID token, too.
  conformIdTokenClaims: false,
  findAccount: (_context, id) => ({
    accountId: id,
    claims: async () => ({
      sub: id,
      name: 'Ada Lovelace',
      given_name: 'Ada',
      family_name: 'Lovelace',
      email: 'ada@bench.test',
      email_verified: true,
    }),
  }),
  rotateRefreshToken: () => true,
  ttl: {
    AuthorizationCode: 600,
    AccessToken: 3600,
    ClientCredentials: 3600,
    RefreshToken: 2_592_000,
    IdToken: 3600,
    Session: 86_400,
    Grant: 2_592_000,
  },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    dPoP: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context, resource) => {
        const kind = KINDS.find((name) => resourceOf(name) === resource)!;
        const alg = ALGS[kind];
        return {
          scope: 'jobs:read',
          accessTokenTTL: 3600,
          ...(alg === undefined
            ? { accessTokenFormat: 'opaque' as const }
            : { accessTokenFormat: 'jwt' as const, jwt: { sign: { alg } } }),
        };
      },
    },
  },
};

const provider = new Provider(`http://localhost:${port}`, configuration);

async function grantFor(scope: string): Promise<string> {
  const grant = new provider.Grant({ clientId: CLIENT_ID, accountId: PERSON });
  grant.addOIDCScope(scope);
  return grant.save();
}

interface Question {
  id: number;
  ask: string;
  count?: number;
  scope?: string;
  challenge?: string;
}

const answers: Record<string, (question: Question) => Promise<unknown>> = {
  client: async () => ({ client_id: CLIENT_ID, client_secret: CLIENT_SECRET }),
  async codes({ count = 0, scope = '', challenge = '' }) {
    const client = (await provider.Client.find(CLIENT_ID))!;
    const codes: string[] = [];
    while (codes.length < count) {
      const code = new provider.AuthorizationCode({
        client,
        accountId: PERSON,
        grantId: await grantFor(scope),
        gty: 'authorization_code',
        scope,
        redirectUri: REDIRECT_URI,
        codeChallenge: challenge,
        codeChallengeMethod: 'S256',
        authTime: Math.floor(Date.now() / 1000),
        nonce: 'a nonce',
      });
      codes.push(await code.save());
    }
    return codes;
  },
  async cookie({ scope = '' }) {
    const session = new provider.Session();
    session.loginAccount({ accountId: PERSON, loginTs: Math.floor(Date.now() / 1000) });
    session.grantIdFor(CLIENT_ID, await grantFor(scope));
    await session.save(86_400);
    return `_session=${session.jti}`;
  },
};

process.on('message', (question: Question) => {
  const answer = answers[question.ask];
  if (answer) void answer(question).then((value) => process.send?.({ id: question.id, answer: value }));
});
process.channel?.unref();
provider.listen(port, 'localhost');
