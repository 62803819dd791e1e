/** The admin API as commands use it: carried out on the database, or asked of the server that --url names. */

import type { CallAnswer, CallIds, CallName, Listed, ListName } from '../admin/api/calls.ts';

/** What an operation is given: the parameters of its path, its query, and its body. */
export interface ApiRequest<Ids = Readonly<Record<string, string>>> {
  ids?: Ids;
  query?: Readonly<Record<string, string | undefined>> | undefined;
  body?: unknown;
  /** Refuse when what the path names is not there: without it, deleting nothing is fine. */
  present?: boolean;
}

/** One thing of the API: JSON values only. */
export type Item = Record<string, unknown>;

/** A page of a list. */
interface ListPage<Name extends ListName> {
  items: Array<Listed<Name>>;
  next_cursor: string | null;
}

/** The operations of the API, by method and path: `GET /clients/{client_id}`. */
export interface Api {
  /** Carries one out; what answers nothing gives an empty object. @throws Failure */
  call<Name extends CallName>(operation: Name, request?: ApiRequest<CallIds<Name>>): Promise<CallAnswer<Name>>;
  /** Reads one page. @throws Failure */
  page<Name extends ListName>(operation: Name, request?: ApiRequest<CallIds<Name>>): Promise<ListPage<Name>>;
}

/** Carries out an operation of any name. @throws Failure */
type Carry = (operation: string, request: ApiRequest) => Promise<object>;

/** The API that operations are carried out at: what is answered is what the table of collections says. */
export const apiOf = (carry: Carry): Api => ({
  call: async <Name extends CallName>(operation: Name, request: ApiRequest<CallIds<Name>> = {}) =>
    (await carry(operation, request)) as CallAnswer<Name>,
  page: async <Name extends ListName>(operation: Name, request: ApiRequest<CallIds<Name>> = {}) =>
    (await carry(operation, request)) as ListPage<Name>,
});

/** The most that the API gives in a page. */
const PAGE = 200;

/** The items of a list in its order, page by page while they are taken. */
export async function* items<Name extends ListName>(
  api: Api,
  operation: Name,
  request: ApiRequest<CallIds<Name>> = {},
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<Listed<Name>, void, undefined> {
  let cursor: string | undefined;
  for (let left = limit; left > 0;) {
    const query = { ...request.query, limit: `${Math.min(PAGE, left)}`, cursor };
    const page = await api.page(operation, { ...request, query });
    yield* page.items;
    left -= page.items.length;
    if (page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
}

/** The items of a list that is short, or has to be whole. */
export async function everything<Name extends ListName>(
  api: Api,
  operation: Name,
  request?: ApiRequest<CallIds<Name>>,
  limit?: number,
): Promise<Array<Listed<Name>>> {
  const rows: Array<Listed<Name>> = [];
  for await (const row of items(api, operation, request, limit)) rows.push(row);
  return rows;
}

/** The answer of a call, or undefined where it is not_found. */
export async function orUndefined<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

const isNotFound = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'error' in error && error.error === 'not_found';
