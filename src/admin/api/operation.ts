/**
 * From the table of resources to single operations: what the doors route, the document describes and the command line
 * calls.
 */
import { z } from 'zod';
import { queryOf } from './list.ts';
import type { Action, Collection, Create, List, Replace, Subject } from './collection.ts';

interface Common {
  /** `list`, `create`, `get`, `replace`, `update`, `delete`, or an action's own name. */
  name: string;
  collection: Collection;
  /** Under the base, with parameters in braces. */
  path: string;
  summary: string;
  /** What the access token must have: `clients:read`. */
  scope: `${Subject}:${'read' | 'write'}`;
  status: number;
}

/** One thing that can be done. */
export type Operation = Common &
  (
    | { kind: 'list'; method: 'GET'; list: List; query: z.ZodObject }
    | { kind: 'get'; method: 'GET' }
    | { kind: 'create'; method: 'POST'; create: Create }
    | { kind: 'replace'; method: 'PUT'; replace: Replace }
    | { kind: 'update'; method: 'PATCH'; replace: Replace }
    | { kind: 'delete'; method: 'DELETE'; remove: NonNullable<Collection['remove']> }
    | { kind: 'action'; method: 'POST'; action: Action }
  );

/** What names an operation in generated code: `clients_list`, `users_set_password`. */
export function operationId({ path, name, kind }: Operation): string {
  const parts = path.split('/').filter((part) => part !== '' && !part.startsWith('{'));
  // The path of an action ends in its name.
  return (kind === 'action' ? parts : [...parts, name]).join('_').replaceAll('-', '_');
}

/** Everything that can be done with a kind of thing. */
export function operationsOf(collection: Collection): Operation[] {
  const { noun, subject, path, id, list, find, create, replace, remove, actions = {} } = collection;
  const one = id === undefined ? path : `${path}/{${id}}`;
  const read = { collection, scope: `${subject}:read` } as const;
  const write = { collection, scope: `${subject}:write` } as const;
  const operations: Operation[] = [];
  if (list) {
    const query = queryOf(list);
    const summary = `List ${collection.summary}`;
    operations.push({ ...read, kind: 'list', name: 'list', method: 'GET', path, summary, status: 200, list, query });
  }
  if (create) {
    const summary = create.summary ?? `Create a ${noun}`;
    operations.push({ ...write, kind: 'create', name: 'create', method: 'POST', path, summary, status: 201, create });
  }
  if (find) {
    const summary = `Show a ${noun}`;
    operations.push({ ...read, kind: 'get', name: 'get', method: 'GET', path: one, summary, status: 200 });
  }
  if (replace) {
    const common = { ...write, path: one, status: 200, replace } as const;
    const summary = replace.creates ? `Create a ${noun}, or replace it` : `Replace a ${noun}`;
    operations.push({ ...common, kind: 'replace', name: 'replace', method: 'PUT', summary });
    operations.push({ ...common, kind: 'update', name: 'update', method: 'PATCH', summary: `Change a ${noun}` });
  }
  if (remove) {
    const summary = `Delete a ${noun}`;
    operations.push({
      ...write,
      kind: 'delete',
      name: 'delete',
      method: 'DELETE',
      path: one,
      summary,
      status: 204,
      remove,
    });
  }
  for (const [name, action] of Object.entries(actions)) {
    operations.push({
      ...(action.reads ? read : write),
      kind: 'action',
      name,
      method: 'POST',
      path: `${action.collection ? path : one}/${name}`,
      summary: action.summary,
      status: action.answer === null ? 204 : 200,
      action,
    });
  }
  return operations;
}

/** The schema of what an operation answers with; null where it answers nothing. */
export function answerOf(operation: Operation): z.ZodType | null {
  const { collection } = operation;
  if (operation.kind === 'delete') return null;
  if (operation.kind === 'action') return operation.action.answer;
  if (operation.kind !== 'list') return collection.item;
  return z.strictObject({
    items: z.array(collection.item),
    next_cursor: z.string().nullable(),
    ...(operation.list.estimate && { count_estimate: z.int().min(0).optional() }),
  });
}
