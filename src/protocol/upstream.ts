/**
 * Providers that people may sign in with: what is registered of one, and what is read out of its answers. Here, as
 * opposed to everywhere else, this server is the client.
 */
import { z } from 'zod';
import { readableText } from './plain-text.ts';
import { isLoopbackHost } from './redirect-uri.ts';
import { isScopeToken } from './scope.ts';
import { webUri, webUriProblem } from './uri.ts';

/** `oidc` proves who somebody is by an ID token; `oauth2` knows it only from its API (GitHub). */
export const UPSTREAM_KINDS = ['oidc', 'oauth2'] as const;
/** Who gets an account here by signing in there: nobody, everybody, those with an address of its domains. */
export const UPSTREAM_REGISTRATIONS = ['off', 'on', 'domains'] as const;
/** How this server proves itself there (RFC 6749 §2.3.1). */
export const UPSTREAM_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;

/** What a provider is called in addresses and ids. */
export const UPSTREAM_NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;

/** Ours by theirs. What is not named here has the same name there. */
const CLAIMS = [
  'sub',
  'email',
  'email_verified',
  'preferred_username',
  'name',
  'given_name',
  'family_name',
  'middle_name',
  'nickname',
  'profile',
  'picture',
  'website',
  'locale',
  'zoneinfo',
] as const;
/** A claim of ours that a provider may fill. */
type UpstreamClaim = (typeof CLAIMS)[number];

const text = readableText(200);
/** An address that is fetched or led to: over http only on the person's own machine. */
const address = webUri().refine(
  (uri) => !URL.canParse(uri) || new URL(uri).protocol === 'https:' || isLoopbackHost(new URL(uri).hostname),
  'must use https',
);
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;
const methods = z.array(z.string().regex(/^[a-z0-9_]{1,32}$/)).max(8);
/** By a value of theirs: our own methods (RFC 8176) that it is worth. */
const worth = z.record(
  z
    .string()
    .min(1)
    .max(200)
    .regex(/^[\x21-\x7E]+$/),
  methods,
);

/** A picture in the document itself: pages fetch nothing from elsewhere. */
const icon = z
  .string()
  .max(32_768)
  .regex(/^data:image\/(?:png|svg\+xml|webp|jpeg);base64,[A-Za-z0-9+/]+={0,2}$/, 'must be a data: URL of a picture');

/** A provider as it is written, but for its secret. */
export const upstreamFields = z.strictObject({
  upstream: z.string().regex(UPSTREAM_NAME, 'must be 1 to 32 of a-z, 0-9 and -, as in google'),
  kind: z.enum(UPSTREAM_KINDS).default('oidc'),
  label: readableText(60).describe('What people see on the button'),
  icon: icon.nullable().default(null),
  issuer: address.describe('Where its metadata is found (OpenID Connect Discovery), and what its tokens name'),
  authorization_endpoint: address.nullable().default(null).describe('Of oauth2 only, like the next three'),
  token_endpoint: address.nullable().default(null),
  userinfo_endpoint: address.nullable().default(null),
  emails_endpoint: address.nullable().default(null).describe('Lists addresses, as that of GitHub does'),
  client_id: text,
  token_endpoint_auth_method: z.enum(UPSTREAM_AUTH_METHODS).default('client_secret_basic'),
  secret_team_id: text
    .nullable()
    .default(null)
    .describe('Apple: the secret is a private key, and signs a JWT for each use'),
  secret_key_id: text.nullable().default(null),
  response_mode: z.enum(['form_post']).nullable().default(null),
  scope: z
    .array(z.string().max(200).refine(isScopeToken, 'must be a scope token (RFC 6749 §3.3)'))
    .max(50)
    .default(['openid', 'profile', 'email']),
  claims: z
    .partialRecord(z.enum(CLAIMS), text)
    .default({})
    .describe('By a claim of ours: what the provider calls it; the rest has the same name'),
  amr_values: worth.default({}).describe('By a value of its amr: the methods (RFC 8176) it is worth here'),
  acr_values: worth.default({}).describe('By its acr: the methods (RFC 8176) it is worth here'),
  domains: z
    .array(z.string().regex(DOMAIN, 'must be a domain in lower case, as in example.com'))
    .max(100)
    .default([])
    .describe('Whoever types an address of these is led there'),
  registration: z.enum(UPSTREAM_REGISTRATIONS).default('off').describe('Who gets an account by signing in there'),
  linking: z.boolean().default(true).describe('May people connect it to an account they have?'),
  trust_email: z.boolean().default(false).describe('Its addresses count as verified, whatever it says of them'),
  keep_tokens: z.boolean().default(false).describe('Keep its tokens, sealed'),
  untyped_logout_tokens: z
    .boolean()
    .default(false)
    .describe('Take logout tokens of the type JWT, or of none, beside logout+jwt (Back-Channel Logout §2.4)'),
  disabled: z.boolean().default(false),
});

/** A provider, as it is registered. */
export type UpstreamFields = z.output<typeof upstreamFields>;

/** What is wrong with a provider as a whole, by member. */
export function upstreamProblems(fields: UpstreamFields): Array<[member: keyof UpstreamFields, message: string]> {
  const { kind, authorization_endpoint, token_endpoint, userinfo_endpoint, domains, registration } = fields;
  const endpoints = { authorization_endpoint, token_endpoint, userinfo_endpoint };
  const found: Array<[keyof UpstreamFields, string]> = [];
  for (const [name, value] of Object.entries(endpoints) as Array<[keyof typeof endpoints, string | null]>) {
    if (kind === 'oauth2' && value === null) found.push([name, 'has to be named: oauth2 has no metadata']);
    if (kind === 'oidc' && value !== null) found.push([name, 'comes from the metadata of the issuer']);
  }
  if (kind === 'oidc') {
    if (!fields.scope.includes('openid')) found.push(['scope', 'must contain openid']);
    if (fields.emails_endpoint !== null) found.push(['emails_endpoint', 'is of oauth2 only']);
  }
  if (/[?#]/.test(fields.issuer)) found.push(['issuer', 'must have no query and no fragment']);
  if (registration === 'domains' && domains.length === 0)
    found.push(['domains', 'must name one for this registration']);
  if ((fields.secret_team_id === null) !== (fields.secret_key_id === null))
    found.push(['secret_key_id', 'goes with secret_team_id']);
  return found;
}

/** The domain of an address, as `domains` names it. */
export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase();

/** Somebody, as a provider names them. What could not be stored or shown is left out. */
export interface UpstreamIdentity {
  /** Never reassigned there, and never an address. */
  upstream_sub: string;
  email: string | undefined;
  /** Does the provider say so, or is it trusted with all its addresses? */
  email_verified: boolean;
  preferred_username: string | undefined;
  /** Further claims, by our names. */
  claims: Record<string, unknown>;
}

const MAX_SUB = 255;
const short = readableText(320);

/** Reads who somebody is out of the claims of an ID token and of userinfo; undefined where nobody is named. */
export function identityOf(
  { claims: names, trust_email, domains }: Pick<UpstreamFields, 'claims' | 'trust_email' | 'domains'>,
  given: Readonly<Record<string, unknown>>,
): UpstreamIdentity | undefined {
  const read = (claim: UpstreamClaim): unknown => given[names[claim] ?? claim];
  const textOf = (claim: UpstreamClaim): string | undefined => short.safeParse(read(claim)).data;
  const sub = read('sub');
  // GitHub numbers its people.
  const upstream_sub = typeof sub === 'number' && Number.isSafeInteger(sub) ? String(sub) : sub;
  if (typeof upstream_sub !== 'string' || !/^[\x20-\x7E]+$/.test(upstream_sub) || upstream_sub.length > MAX_SUB) {
    return undefined;
  }
  const email = textOf('email');
  const said = read('email_verified');
  // Apple writes it as text.
  const verified = said === true || said === 'true';
  const trusted = trust_email && email !== undefined && (domains.length === 0 || domains.includes(domainOf(email)));
  const others = CLAIMS.slice(CLAIMS.indexOf('name'));
  const claims = others.map((claim): [string, unknown] => {
    const value = textOf(claim);
    const isAddress = ['profile', 'picture', 'website'].includes(claim);
    return [claim, isAddress && value !== undefined && webUriProblem(value) !== undefined ? undefined : value];
  });
  return {
    upstream_sub,
    email,
    email_verified: email !== undefined && (verified || trusted),
    preferred_username: textOf('preferred_username'),
    claims: Object.fromEntries(claims.filter(([, value]) => value !== undefined)),
  };
}

/**
 * How somebody signed in there, in our words: what the mapping says, and else nothing. RFC 8176 has no value for a
 * sign-in elsewhere, and one that we cannot vouch for would be a lie.
 */
export function methodsOf(
  { amr_values, acr_values }: Pick<UpstreamFields, 'amr_values' | 'acr_values'>,
  { amr, acr }: Readonly<Record<string, unknown>>,
): string[] {
  const theirs = Array.isArray(amr) ? amr.filter((value) => typeof value === 'string') : [];
  const worthOf = (table: Record<string, string[]>, value: string): string[] =>
    Object.hasOwn(table, value) ? table[value]! : [];
  const ours = [
    ...theirs.flatMap((value) => worthOf(amr_values, value)),
    ...(typeof acr === 'string' ? worthOf(acr_values, acr) : []),
  ];
  return [...new Set(ours)];
}
