/** What operators do, done as the admin API does it: no test works with a thing that could not have been made. */
import type { Updateable } from 'kysely';
import { operations, perform, Problem, type Operation } from '../../src/admin/index.ts';
import type { ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import type { Database } from '../../src/store/postgres/schema.ts';
import type { TestApp } from './app.ts';

export const BY = { actor: 'test' };

type Item = Record<string, unknown>;

/** An operation by its method and path; undefined when there is none. */
export const operationAt = (method: string, path: string): Operation | undefined =>
  operations.find((operation) => operation.method === method && operation.path === path);

/**
 * Carries out an operation on the database itself, as the command line does.
 * @throws an error that says everything that is wrong, with the Problem as its cause
 */
export async function administer(
  { deps, clock }: Pick<TestApp, 'deps' | 'clock'>,
  method: 'POST' | 'PUT' | 'PATCH',
  path: string,
  body: object,
  ids: Record<string, string> = {},
): Promise<Item> {
  const operation = operationAt(method, path);
  if (!operation) throw new Error(`there is no ${method} ${path}`);
  const sent = JSON.parse(JSON.stringify(body)) as unknown;
  try {
    return (await perform(deps, operation, { ids, body: sent }, BY, clock.now())).body!;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const wrong = error.errors.map(({ pointer, detail }) => `${pointer} ${detail}`);
    throw new Error([error.message, ...wrong].join('; '), { cause: error });
  }
}

/** Changes what is named of a client; the rest stays, and what is undefined goes back to its default. */
export const changeClient = (
  test: Pick<TestApp, 'deps' | 'clock'>,
  { client_id }: { client_id: string },
  changes: Partial<ClientMetadataInput>,
): Promise<Item> => {
  const patch = Object.entries(changes).map(([name, value]) => [name, value ?? null]);
  return administer(test, 'PATCH', '/clients/{client_id}', Object.fromEntries(patch), { client_id });
};

/** Makes a scope, or gives it other terms. */
export const aScope = (
  test: Pick<TestApp, 'deps' | 'clock'>,
  name: string,
  terms: {
    description?: string;
    descriptions?: Readonly<Record<string, string>>;
    claims?: string[];
    for_people?: boolean;
    for_machines?: boolean;
  } = {},
): Promise<Item> => administer(test, 'PUT', '/scopes/{name}', terms, { name });

/** Leaves a client as a server of before a rule could have written it: what no operation of today would. */
export async function asOfBefore(
  { deps }: Pick<TestApp, 'deps'>,
  { client_id }: { client_id: string },
  columns: Updateable<Database['clients']>,
): Promise<void> {
  await deps.db.updateTable('clients').set(columns).where('client_id', '=', client_id).execute();
  deps.directory.clear();
}
