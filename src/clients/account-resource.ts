/** The account API as a resource. */
import { ACCOUNT_SCOPE, accountApiOf } from '../protocol/account-api.ts';
import type { Resource } from '../store/resources.ts';

/** The account API as a resource (RFC 8707): it is in no table, since its name follows from the issuer. */
export const accountResource = (issuer: string): Resource => ({
  resource: accountApiOf(issuer),
  name: 'Postern account API',
  client_id: null,
  scope: [ACCOUNT_SCOPE],
  access_token_format: null,
  access_token_ttl: null,
  access_token_signing_alg: null,
  access_token_typ: null,
  claims: [],
});
