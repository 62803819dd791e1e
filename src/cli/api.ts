/** The admin API as commands use it: carried out on the database, or asked of the server that --url names. */

/** What an operation is given: the parameters of its path, its query, and its body. */
export interface ApiRequest {
  ids?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | undefined>> | undefined;
  body?: unknown;
  /** Refuse when what the path names is not there: without it, deleting nothing is fine. */
  present?: boolean;
}

/** One thing of the API: JSON values only. */
export type Item = Record<string, unknown>;

/** The operations of the API, by method and path: `GET /clients/{client_id}`. */
export interface Api {
  /** Carries one out; what answers nothing gives an empty object. @throws Failure */
  call(operation: string, request?: ApiRequest): Promise<Item>;
}

/** The most that the API gives in a page. */
const PAGE = 200;

/** The items of a list in its order, page by page while they are taken. */
export async function* items(
  api: Api,
  operation: string,
  { ids = {}, query = {} }: ApiRequest = {},
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  for (let left = limit; left > 0;) {
    const asked = { ...query, limit: String(Math.min(PAGE, left)), cursor };
    const page = await api.call(operation, { ids, query: asked });
    yield* page['items'] as Item[];
    left -= (page['items'] as Item[]).length;
    if (page['next_cursor'] === null) return;
    cursor = page['next_cursor'] as string;
  }
}

/** The items of a list that is short, or has to be whole. */
export async function everything(api: Api, operation: string, request?: ApiRequest, limit?: number): Promise<Item[]> {
  const rows: Item[] = [];
  for await (const row of items(api, operation, request, limit)) rows.push(row);
  return rows;
}

/** What the call answers, or undefined where there is nothing of this name. */
export async function orNothing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

const isNotFound = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'error' in error && error.error === 'not_found';

/** Changes what is named of a thing, or makes it where there is none. @throws Failure */
export const putting = async (api: Api, path: string, ids: Record<string, string>, body: Item): Promise<Item> =>
  (await orNothing(api.call(`PATCH ${path}`, { ids, body }))) ?? api.call(`PUT ${path}`, { ids, body });
