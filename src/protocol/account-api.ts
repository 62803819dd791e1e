/** The account API as its callers meet it: where it is, and the scope that opens it to applications. */
import { accountPages } from './endpoint.ts';

/** Where the API is, under the issuer. */
export const ACCOUNT_API_PATH = `${accountPages.overview}/api`;

/** The whole address of the API. */
export const accountApiOf = (issuer: string): string => `${issuer}${ACCOUNT_API_PATH}`;

/** The scope of applications that people let look after their account. It means nothing in tokens for anything else. */
export const ACCOUNT_SCOPE = 'account';

/** Are these resources the account API, and nothing beside it? */
export const isAccountApi = (resource: readonly string[], issuer: string): boolean =>
  resource.length === 1 && resource[0] === accountApiOf(issuer);
