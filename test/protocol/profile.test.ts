import { describe, expect, test } from 'vitest';
import { clientMetadata, presets, type ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import { deviationsFrom, profileOf, PROFILES } from '../../src/protocol/profile.ts';

const client: ClientMetadataInput = {
  ...presets.fapi2,
  client_name: 'Wallet',
  redirect_uris: ['https://wallet.example.test/cb'],
  jwks_uri: 'https://wallet.example.test/jwks',
};
const membersOf = (input: ClientMetadataInput): string[] =>
  (clientMetadata.safeParse(input).error?.issues ?? []).map(({ path }) => String(path[0]));

test('FAPI 2.0 Security Profile §5.3.2: what the preset makes keeps to the profile', () => {
  const parsed = clientMetadata.parse(client);
  expect(parsed.profile).toBe('fapi2_security');
  expect(deviationsFrom('fapi2_security', parsed)).toEqual([]);
});

/** What contradicts the profile: the member that is named, and what it is changed to. */
const contradictions: Array<[clause: string, member: keyof ClientMetadataInput, change: Partial<ClientMetadataInput>]> =
  [
    ['§5.3.2.1: a secret', 'token_endpoint_auth_method', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['§5.3.2.1: a public client', 'token_endpoint_auth_method', { token_endpoint_auth_method: 'none' }],
    ['§5.3.2.1: bearer tokens', 'dpop_bound_access_tokens', { dpop_bound_access_tokens: false }],
    [
      '§5.3.2.2: requests that are not pushed',
      'require_pushed_authorization_requests',
      { require_pushed_authorization_requests: false },
    ],
    ['§5.3.2.2: no PKCE', 'require_pkce', { require_pkce: false }],
    ['§5.3.2.2: a redirect URI without TLS', 'redirect_uris', { redirect_uris: ['http://localhost:5000/cb'] }],
    [
      '§5.4.1: assertions by any algorithm',
      'token_endpoint_auth_signing_alg',
      { token_endpoint_auth_signing_alg: undefined },
    ],
    ['§5.4.1: assertions by RS256', 'token_endpoint_auth_signing_alg', { token_endpoint_auth_signing_alg: 'RS256' }],
    ['§5.4.1: ID tokens by RS256', 'id_token_signed_response_alg', { id_token_signed_response_alg: undefined }],
    ['§5.4.1: userinfo by RS256', 'userinfo_signed_response_alg', { userinfo_signed_response_alg: 'RS256' }],
    ['§5.4.1: answers by RS256', 'authorization_signed_response_alg', { authorization_signed_response_alg: undefined }],
    ['§5.4.1: requests by any algorithm', 'request_object_signing_alg', { request_object_signing_alg: undefined }],
    ['§5.4.1: requests by RS256', 'request_object_signing_alg', { request_object_signing_alg: 'RS256' }],
  ];

test.each(contradictions)(
  'FAPI 2.0 Security Profile %s is refused at registration, and a deviation',
  (_what, member, change) => {
    expect(membersOf({ ...client, ...change })).toContain(member);
    const parsed = clientMetadata.parse({ ...client, ...change, profile: undefined });
    const deviation = deviationsFrom('fapi2_security', parsed).find((one) => one.member === member);
    expect(deviation).toMatchObject({
      clause: expect.stringMatching(/^FAPI 2\.0 .* §/) as string,
      mend: expect.stringMatching(/^--/) as string,
    });
  },
);

test('FAPI 2.0 Security Profile §5.3.2.1: tokens bound to a certificate are bound as well', () => {
  const bound = { dpop_bound_access_tokens: false, tls_client_certificate_bound_access_tokens: true };
  expect(membersOf({ ...client, ...bound })).toEqual([]);
});

test('RFC 8252 §7.3: native applications may be answered at loopback addresses', () => {
  const native = {
    ...client,
    application_type: 'native',
    redirect_uris: ['http://127.0.0.1/cb'],
  } satisfies ClientMetadataInput;
  expect(membersOf(native)).toEqual([]);
});

test('FAPI 2.0 Message Signing §5.3.1: requests have to be signed as well', () => {
  const signing = { ...client, profile: 'fapi2_message_signing' } as const;
  expect(membersOf(signing)).toEqual(['require_signed_request_object']);
  expect(membersOf({ ...signing, require_signed_request_object: true })).toEqual([]);
});

test('a client that acts for itself alone needs no rules about authorization requests', () => {
  const machine: ClientMetadataInput = {
    profile: 'fapi2_security',
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'PS256',
    id_token_signed_response_alg: 'PS256',
    dpop_bound_access_tokens: true,
    grant_types: ['client_credentials'],
    scope: '',
    jwks_uri: 'https://wallet.example.test/jwks',
  };
  expect(membersOf(machine)).toEqual([]);
});

describe('the profile that counts', () => {
  test.each([
    ['none', null, null],
    ['none', 'fapi2_security', 'fapi2_security'],
    ['fapi2_security', null, 'fapi2_security'],
    ['fapi2_security', 'fapi2_message_signing', 'fapi2_message_signing'],
    ['fapi2_message_signing', 'fapi2_security', 'fapi2_message_signing'],
  ] as const)('of the server %s and the client %s it is %s', (server, profile, counts) =>
    expect(profileOf(server, { profile })).toBe(counts),
  );
  test('the stricter one stands behind', () => expect(PROFILES.at(-1)).toBe('fapi2_message_signing'));
});
