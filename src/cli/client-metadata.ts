/** Client metadata as the command line takes it: options by member, and whole RFC 7591 documents. */
import { InvalidArgumentError, Option } from 'commander';
import { ADMIN_SCOPES } from '../protocol/admin-api.ts';
import { AUTH_METHODS, GRANT_TYPES, isPublic } from '../protocol/client.ts';
import { presets as ofApplications, type ClientMetadataInput } from '../protocol/client-metadata.ts';
import { CONTENT_ENCRYPTION, ENCRYPTION_ALGS } from '../protocol/encryption-alg.ts';
import { SUBJECT_TYPES } from '../protocol/sector.ts';
import { RESPONSE_MODES } from '../protocol/authorization-request.ts';
import { ASSERTION_ALGS } from '../protocol/jwt-assertion.ts';
import { PROFILES } from '../protocol/profile.ts';
import { DECRYPTION_ALGS } from '../protocol/key-alg.ts';
import { REQUEST_OBJECT_SIGNING_ALGS } from '../protocol/request-object.ts';
import { SIGNING_ALGS } from '../protocol/signing-alg.ts';
import { TOKEN_FORMATS } from '../protocol/token-format.ts';
import { localizedMember } from '../protocol/localized.ts';
import type { Item } from './api.ts';
import { usage } from './failure.ts';
import { collect, readDocument, seconds } from './input.ts';

/** `admin` is for operators alone: a client of the admin API that may do everything there. */
const presets = {
  ...ofApplications,
  admin: {
    ...ofApplications.m2m,
    scope: [...ADMIN_SCOPES].join(' '),
    may_administer: true,
  },
} as const satisfies Record<string, Partial<ClientMetadataInput>>;
type Preset = keyof typeof presets;

type Member = keyof ClientMetadataInput;
type Kind = 'list' | 'seconds' | 'flag' | 'scope' | readonly string[];
type Row = readonly [member: Member, flag: string, description: string, kind?: Kind];

const ROWS: readonly Row[] = [
  ['client_name', '--name <text>', 'what people see'],
  ['redirect_uris', '--redirect-uri <uri>', 'where answers may go (repeatable)', 'list'],
  ['post_logout_redirect_uris', '--post-logout-redirect-uri <uri>', 'where sign-out may end (repeatable)', 'list'],
  ['scope', '--scope <scopes>', 'every scope it may ask for, separated by spaces', 'scope'],
  ['authorization_details_types', '--details-type <name>', 'authorization details it may ask for (repeatable)', 'list'],
  ['grant_types', '--grant-type <type>', 'how it gets tokens (repeatable)', GRANT_TYPES],
  ['token_endpoint_auth_method', '--auth-method <method>', 'how it proves who it is', AUTH_METHODS],
  ['application_type', '--application-type <type>', 'where it runs', ['web', 'native']],
  ['profile', '--profile <name>', 'a profile that it keeps to, as a whole', PROFILES],
  ['token_endpoint_auth_signing_alg', '--assertion-alg <alg>', 'signature of its assertions', ASSERTION_ALGS],
  ['tls_client_auth_subject_dn', '--tls-subject-dn <name>', 'name in its certificate: CN=pay,O=Example'],
  ['tls_client_auth_san_dns', '--tls-san-dns <host>', 'DNS name in its certificate'],
  ['tls_client_auth_san_uri', '--tls-san-uri <uri>', 'URI in its certificate'],
  ['tls_client_auth_san_ip', '--tls-san-ip <address>', 'address in its certificate'],
  ['tls_client_auth_san_email', '--tls-san-email <address>', 'mail address in its certificate'],
  ['jwks_uri', '--jwks-uri <url>', 'where it publishes its keys'],
  ['backchannel_logout_uri', '--backchannel-logout-uri <url>', 'where it is told of sign-outs'],
  ['response_modes', '--response-mode <mode>', 'how answers may travel (repeatable)', RESPONSE_MODES],
  ['default_max_age', '--default-max-age <time>', 'ask for the password again when it was longer ago', 'seconds'],
  ['default_acr_values', '--default-acr-value <name>', 'authentication context it wants (repeatable)', 'list'],
  ['frontchannel_logout_uri', '--frontchannel-logout-uri <url>', 'page that is framed to tell it of sign-outs'],
  ['require_pushed_authorization_requests', '--require-par', 'refuse requests that were not pushed', 'flag'],
  ['require_signed_request_object', '--require-signed-request', 'refuse requests that are not signed', 'flag'],
  [
    'request_object_signing_alg',
    '--request-object-alg <alg>',
    'signature of its requests',
    REQUEST_OBJECT_SIGNING_ALGS,
  ],
  ['request_object_encryption_alg', '--request-object-encryption <alg>', 'may encrypt its requests', DECRYPTION_ALGS],
  ['request_uris', '--request-uri <url>', 'where signed requests of it are (repeatable)', 'list'],
  ['require_second_factor', '--require-second-factor', 'let people in with two factors only', 'flag'],
  ['dpop_bound_access_tokens', '--dpop-bound', 'give it DPoP-bound access tokens only (RFC 9449)', 'flag'],
  [
    'tls_client_certificate_bound_access_tokens',
    '--certificate-bound',
    'give it access tokens bound to its certificate only (RFC 8705)',
    'flag',
  ],
  ['require_dpop_nonce', '--require-dpop-nonce', 'its DPoP proofs hold a nonce of this server', 'flag'],
  ['require_pkce', '--require-pkce', 'refuse requests without PKCE', 'flag'],
  ['skip_consent', '--skip-consent', 'do not ask people (your own applications)', 'flag'],
  ['may_introspect', '--may-introspect', "may introspect everybody's tokens (an API)", 'flag'],
  ['may_administer', '--may-administer', 'may have scopes of the admin API (an operator)', 'flag'],
  ['allowed_origins', '--allowed-origin <origin>', 'web origin that may call /token (repeatable)', 'list'],
  ['access_token_format', '--access-token-format <format>', 'kind of access token', TOKEN_FORMATS],
  ['access_token_ttl', '--access-token-ttl <time>', 'life of access tokens: seconds, or 15m, 12h', 'seconds'],
  ['id_token_ttl', '--id-token-ttl <time>', 'life of ID tokens', 'seconds'],
  ['refresh_token_ttl', '--refresh-token-ttl <time>', 'life of a refresh token and all its successors', 'seconds'],
  ['refresh_token_idle_ttl', '--refresh-token-idle-ttl <time>', 'life of a refresh token not used', 'seconds'],
  ['id_token_claims', '--id-token-claims <which>', 'claims of the ID token', ['scope', 'minimal']],
  ['id_token_signed_response_alg', '--id-token-alg <alg>', 'signature of the ID token', SIGNING_ALGS],
  ['id_token_encrypted_response_alg', '--id-token-encryption-alg <alg>', 'encrypt the ID token', ENCRYPTION_ALGS],
  ['id_token_encrypted_response_enc', '--id-token-encryption-enc <enc>', 'with this cipher', CONTENT_ENCRYPTION],
  ['userinfo_signed_response_alg', '--userinfo-alg <alg>', 'sign userinfo', SIGNING_ALGS],
  ['userinfo_encrypted_response_alg', '--userinfo-encryption-alg <alg>', 'encrypt userinfo', ENCRYPTION_ALGS],
  ['userinfo_encrypted_response_enc', '--userinfo-encryption-enc <enc>', 'with this cipher', CONTENT_ENCRYPTION],
  ['authorization_signed_response_alg', '--authorization-alg <alg>', 'signature of answers in a JWT', SIGNING_ALGS],
  [
    'authorization_encrypted_response_alg',
    '--authorization-encryption-alg <alg>',
    'encrypt answers in a JWT',
    ENCRYPTION_ALGS,
  ],
  [
    'authorization_encrypted_response_enc',
    '--authorization-encryption-enc <enc>',
    'with this cipher',
    CONTENT_ENCRYPTION,
  ],
  ['subject_type', '--subject-type <type>', 'pairwise: a sub of its own for each person', SUBJECT_TYPES],
  ['sector_identifier_uri', '--sector-identifier-uri <url>', 'list of the redirect URIs that share those subs'],
  ['client_uri', '--client-uri <url>', 'home page'],
  ['logo_uri', '--logo-uri <url>', 'logo'],
  ['policy_uri', '--policy-uri <url>', 'privacy policy'],
  ['tos_uri', '--tos-uri <url>', 'terms of service'],
  ['initiate_login_uri', '--initiate-login-uri <url>', 'where it starts a sign-in that begins elsewhere (https)'],
  ['contacts', '--contact <address>', 'whom to write to (repeatable)', 'list'],
];

const isList = (member: Member): boolean => member === 'grant_types' || member === 'response_modes';

function optionOf([member, flag, description, kind]: Row): Option {
  const option = new Option(flag, description);
  if (kind === 'list') return option.argParser(collect);
  if (kind === 'seconds') return option.argParser(seconds);
  if (kind === 'scope') return option.argParser((value, before?: string) => (before ? `${before} ${value}` : value));
  if (kind === undefined || kind === 'flag') return option;
  option.choices(kind);
  if (!isList(member)) return option;
  return option.argParser((value, before?: readonly string[]) => {
    if (!kind.includes(value)) throw new InvalidArgumentError(`Allowed choices are ${kind.join(', ')}.`);
    return collect(value, before);
  });
}

/** One option for each member that can be set. */
export const metadataOptions = (): Option[] => [
  ...ROWS.map(optionOf),
  new Option(
    '--localized <member#language=value>',
    'a name, logo or address in a language: client_name#de=… (repeatable); with no value, take it back',
  ).argParser(localized),
];

function localized(text: string, before: Readonly<Record<string, string | null>> = {}): Record<string, string | null> {
  const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (!localizedMember(name)) {
    throw new InvalidArgumentError(
      'Use client_name, client_uri, logo_uri, policy_uri or tos_uri: client_name#de=Notizen',
    );
  }
  return { ...before, [name]: value === '' ? null : value };
}

/** What takes a flag back, for changes. */
export const negativeOptions = (): Option[] =>
  ROWS.filter(([, , , kind]) => kind === 'flag').map(
    ([, flag]) => new Option(flag.replace('--', '--no-'), 'take it back'),
  );

export const presetOption = (): Option =>
  new Option('--preset <kind>', 'sensible metadata for this kind of application').choices(Object.keys(presets));
export const fileOption = (): Option =>
  new Option('--file <path>', 'metadata as an RFC 7591 document in JSON; - is standard input');

/** The values of the options above. */
export type MetadataOptions = {
  preset?: Preset;
  file?: string;
  localized?: Readonly<Record<string, string | null>>;
} & Record<string, unknown>;

function fromOptions(options: MetadataOptions): Partial<ClientMetadataInput> {
  const named = ROWS.map((row) => [row[0], options[optionOf(row).attributeName()]] as const);
  return { ...Object.fromEntries(named.filter(([, value]) => value !== undefined)), ...options.localized };
}

/** Members of a document that only a server writes. */
const ISSUED = new Set(['client_id_issued_at', 'client_secret_expires_at']);

async function fromFile(file: string): Promise<Record<string, unknown>> {
  const document = await readDocument(file);
  return Object.fromEntries(Object.entries(document).filter(([member]) => !ISSUED.has(member)));
}

/** What the admin API says of a client beside its document: times, and whose it is. */
const SERVER_MEMBERS = new Set(['registered_by', 'created_at', 'updated_at', 'last_used_at', 'disabled_at']);

/** The RFC 7591 document of a client. */
export const documentOf = (client: Item): Item =>
  Object.fromEntries(Object.entries(client).filter(([member]) => !SERVER_MEMBERS.has(member)));

/** A new client, from its document, its preset and its options; the later ones win. @throws Failure */
export async function readRegistration(
  options: MetadataOptions & { clientId?: string; clientSecret?: string },
): Promise<Item> {
  const { client_id, client_secret, ...document } = options.file === undefined ? {} : await fromFile(options.file);
  const given = fromOptions(options);
  // A document means what RFC 7591 §2 says it means; who says nothing at all gets a web application.
  const unsaid = options.file === undefined && given.grant_types === undefined;
  const preset = options.preset ?? (unsaid ? 'web' : undefined);
  const metadata: ClientMetadataInput = { ...(preset && presets[preset]), ...document, ...given };
  // What a document holds is checked where the client is made.
  const body: Item = {
    ...metadata,
    client_id: options.clientId ?? client_id,
    client_secret: options.clientSecret ?? client_secret,
  };
  if (isPublic(metadata) && body['client_secret'] !== undefined) {
    throw usage('client_secret: a public client has none');
  }
  return body;
}

/** Changes to a client, a merge patch (RFC 7396). @throws Failure */
export async function readChanges(client_id: string, options: MetadataOptions): Promise<Item> {
  const {
    client_id: same,
    client_secret,
    // Shown with a client that brought one to /register; its word was heard there, and a change is the operator's own.
    software_statement: _vouched,
    ...document
  } = options.file === undefined ? {} : await fromFile(options.file);
  if (same !== undefined && same !== client_id) throw usage(`client_id: the document is about ${JSON.stringify(same)}`);
  if (client_secret !== undefined) throw usage('client_secret: is changed by `postern clients rotate-secret`');
  const changes = { ...(options.preset && presets[options.preset]), ...document, ...fromOptions(options) };
  if (Object.keys(changes).length === 0) throw usage('there is nothing to change: name a member, or give a --file');
  return changes;
}
