/** The account API as its callers meet it: where it is. */
import { accountPages } from './endpoint.ts';

/** Where the API is, under the issuer. */
export const ACCOUNT_API_PATH = `${accountPages.overview}/api`;

/** The whole address of the API. */
export const accountApiOf = (issuer: string): string => `${issuer}${ACCOUNT_API_PATH}`;
