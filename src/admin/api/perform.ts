/** Performs an operation: checks its input, and does in one transaction what all writes share (If-Match, Idempotency-Key). */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Deps } from '../../deps.ts';
import type { Actor } from '../../events/index.ts';
import { mergePatch } from '../../protocol/merge-patch.ts';
import { isStorableValue } from '../../protocol/plain-text.ts';
import { DAY, secondsAfter } from '../../protocol/numeric-date.ts';
import { transact, uniqueViolation } from '../../store/postgres/db.ts';
import * as idempotencyKeys from '../../store/idempotency-keys.ts';
import { readQuery } from './list.ts';
import type { Operation } from './operation.ts';
import { invalidBody, invalidQuery, Problem, problemOf } from './problem.ts';
import type { Action, Create, Ids, Item, ReadCall, Replace, WriteCall } from './collection.ts';

/** A request: parsed JSON and decoded text, nothing checked yet. */
export interface AdminRequest {
  ids: Ids;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
  /** The entity tags of If-Match (RFC 9110 §13.1.1); `*` is any. */
  if_match?: readonly string[] | undefined;
  /** The scope of the caller's token; absent on the database itself, where everything is allowed. */
  token_scope?: readonly string[] | undefined;
  /** The Idempotency-Key, and whose it is. */
  idempotency?: idempotencyKeys.KeyOf | undefined;
}

/** The answer to a request. */
export interface AdminAnswer {
  status: number;
  body?: Item;
  /** The entity tag of the item that the answer shows. */
  etag?: string;
  /** Path of what was created, under the base. */
  location?: string;
  /** The cursor of the next page. */
  next?: string;
  /** The answer to an earlier request with the same Idempotency-Key. */
  replayed?: boolean;
}

/** Seconds that an answer is kept for its Idempotency-Key. */
const ANSWER_TTL = DAY;

/** Performs an operation. @throws Problem; anything else thrown is a defect, or a database that is away */
export async function perform(
  deps: Deps,
  operation: Operation,
  request: AdminRequest,
  by: Actor,
  now: Date,
): Promise<AdminAnswer> {
  const call: ReadCall = { deps, db: deps.db, by, now, token_scope: request.token_scope };
  requireStorable(request);
  try {
    if (operation.kind === 'list') return await readList(call, operation, request);
    if (operation.kind === 'get')
      return shown(operation, requireFound(operation, await find(call, operation, request)));
    const input = await prepared(call, operation, request);
    const answer = await transact(deps.db, async (trx) => {
      // Translated inside of the transaction: an OAuthError would commit it, a Problem rolls it back.
      try {
        const inside: WriteCall = { deps, trx, by, now, token_scope: request.token_scope };
        return await (request.idempotency
          ? once(inside, operation, { ...request, idempotency: request.idempotency }, input)
          : write(inside, operation, request, input));
      } catch (error) {
        throw problemOf(error) ?? error;
      }
    });
    deps.directory.clear();
    return answer;
  } catch (error) {
    if (uniqueViolation(error) !== undefined) throw new Problem('conflict', `the ${operation.collection.noun} exists`);
    throw problemOf(error) ?? error;
  }
}

/** Deeper than any document of ours: recursion over a body is bounded by it. */
const MAX_DEPTH = 33;

/** Refuses text that Postgres cannot store. The HTTP door does so before; the command line has no door. */
function requireStorable({ ids, query, body }: AdminRequest): void {
  if (!isStorableValue(ids)) throw new Problem('not-found', 'there is nothing of this name');
  if (!isStorableValue(query)) throw new Problem('invalid', 'the query holds characters that cannot be stored');
  if (!isStorableValue(body, MAX_DEPTH))
    throw new Problem('invalid', 'the body is nested too deep, or holds characters that cannot be stored');
}

/**
 * Everything that a list's filters let through, in its order, read page by page while it is taken. What is written
 * meanwhile may be in it or not. @throws Problem before the first item, for a query that is not one of an export
 */
export async function exportList(
  deps: Deps,
  operation: Operation & { kind: 'list' },
  { ids, query }: AdminRequest,
  by: Actor,
  now: Date,
): Promise<AsyncIterable<Item>> {
  const pages = Object.keys(query ?? {}).filter((name) => name === 'limit' || name === 'cursor' || name === 'count');
  if (pages.length > 0) {
    const errors = pages.map((name) => ({ pointer: `?${name}`, detail: 'is of lists by page', code: 'of_pages' }));
    throw new Problem('invalid', 'an export is whole', { errors });
  }
  const read = (cursor?: string): Promise<AdminAnswer> =>
    perform(deps, operation, { ids, query: { ...query, limit: '200', ...(cursor && { cursor }) } }, by, now);
  const first = await read();
  return (async function* () {
    for (let page = first; ; page = await read(page.next)) {
      yield* page.body!['items'] as Item[];
      if (page.next === undefined) return;
    }
  })();
}

type Writing = Exclude<Operation, { kind: 'list' | 'get' }>;

async function readList(
  call: ReadCall,
  { list, query, path }: Operation & { kind: 'list' },
  { ids, query: given = {} }: AdminRequest,
): Promise<AdminAnswer> {
  const parsed = query.safeParse(given);
  if (!parsed.success) throw invalidQuery(parsed.error);
  const listing = readQuery(list, fill(path, ids), parsed.data, call.deps.secrets);
  const { items, last, more } = await list.page(call, ids, listing.filters, listing.keyset);
  const next = more && last ? listing.cursorAfter(last) : undefined;
  const count_estimate = listing.estimate ? await list.estimate!(call) : undefined;
  const body = { items, next_cursor: next ?? null, ...(count_estimate !== undefined && { count_estimate }) };
  return { status: 200, body, ...(next !== undefined && { next }) };
}

/** The input of a write: the checked body, and what was prepared from it before the transaction. */
interface Input {
  /** Of a merge patch only the shape is checked, until the item that it changes is locked. */
  body: unknown;
  made: unknown;
}

async function prepared(call: ReadCall, operation: Writing, request: AdminRequest): Promise<Input> {
  const { ids, body: sent } = request;
  if (operation.kind === 'delete') return { body: undefined, made: undefined };
  if (operation.kind === 'update') {
    if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
      throw new Problem('invalid', 'a merge patch is a JSON object (RFC 7396)');
    }
    const { prepare } = operation.replace;
    if (!prepare) return { body: sent, made: undefined };
    const present = requireFound(operation, await find(call, operation, request));
    return { body: sent, made: await prepare(call, ids, documentFor(operation, sent, present)) };
  }
  const writer = writerOf(operation);
  const body = parse(writer.body, sent);
  return { body, made: await writer.prepare?.(call, ids, body) };
}

function writerOf(operation: Exclude<Writing, { kind: 'delete' }>): Create | Replace | Action {
  if (operation.kind === 'create') return operation.create;
  return operation.kind === 'action' ? operation.action : operation.replace;
}

function parse(schema: z.ZodType, body: unknown): unknown {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw invalidBody(parsed.error);
  return parsed.data;
}

/** The work and the answer that is kept for its key commit together: a crash leaves both or neither. */
async function once(
  call: WriteCall,
  operation: Writing,
  request: AdminRequest & { idempotency: idempotencyKeys.KeyOf },
  input: Input,
): Promise<AdminAnswer> {
  const { trx, now } = call;
  const { secrets } = call.deps;
  const sent = macParts(operation, request);
  const claim = await idempotencyKeys.claim(trx, request.idempotency, now);
  if (claim === 'running') {
    throw new Problem('in-progress', 'wait for the answer to the first request', { retry_after: 1 });
  }
  if (claim !== 'claimed') {
    if (!secrets.verifyMac('request', sent, claim.request_hash)) {
      throw new Problem('key-reused', 'the same Idempotency-Key came with another request before');
    }
    return {
      status: claim.status,
      ...(claim.body !== null && { body: claim.body }),
      ...(claim.location !== null && { location: claim.location }),
      ...(operation.kind === 'create' && claim.body !== null && { etag: etagOf(claim.body) }),
      replayed: true,
    };
  }
  const answer = await write(call, operation, request, input);
  await idempotencyKeys.keep(trx, {
    ...request.idempotency,
    request_hash: secrets.mac('request', sent),
    status: answer.status,
    location: answer.location ?? null,
    body: withoutSecrets(operation, answer.body) ?? null,
    expires_at: secondsAfter(now, ANSWER_TTL),
  });
  return answer;
}

async function write(
  call: WriteCall,
  operation: Writing,
  request: AdminRequest,
  { body, made }: Input,
): Promise<AdminAnswer> {
  const { ids } = request;
  const { collection, status } = operation;
  if (operation.kind === 'create') {
    const item = await operation.create.run(call, ids, body, made);
    const location =
      collection.id === undefined ? undefined : `${fill(collection.path, ids)}/${segment(item[collection.id])}`;
    return { ...shown(operation, item), status, ...(location !== undefined && { location }) };
  }
  if (operation.kind === 'action') {
    // What the action is about has to be there, and unchanged if the caller says so.
    if (!operation.action.collection && collection.find) await requireMatch(call, operation, request);
    const answer = await operation.action.run(call, ids, body, made);
    return answer === undefined ? { status } : { status, body: answer };
  }
  if (operation.kind === 'delete') {
    if (request.if_match !== undefined) await requireMatch(call, operation, request);
    await operation.remove(call, ids);
    return { status };
  }
  const { replace } = operation;
  const creates = operation.kind === 'replace' && replace.creates === true;
  const present =
    creates && !request.if_match
      ? await findForWrite(call, operation, request)
      : await requireMatch(call, operation, request);
  const item = await replace.run(call, ids, documentFor(operation, body, present), made, present);
  if (present !== undefined) return shown(operation, item);
  return { ...shown(operation, item), status: 201, location: fill(operation.path, ids) };
}

/** What PUT brought, or what PATCH makes of the present document (RFC 7396): the same rules check both. */
function documentFor(
  operation: Operation & { kind: 'replace' | 'update' },
  body: unknown,
  present: Item | undefined,
): unknown {
  if (operation.kind === 'replace') return body;
  const { replace } = operation;
  const merged = mergePatch(replace.writable(present!), body);
  return parse(replace.body, withUnknown(replace.body, merged, body));
}

/** A member that there is none of may not be removed either: whoever names it meant another, and is told. */
function withUnknown(schema: z.ZodType, merged: unknown, patch: unknown): unknown {
  const isDocument = typeof patch === 'object' && patch !== null && !Array.isArray(patch);
  if (!isDocument || !(schema instanceof z.ZodObject)) return merged;
  // Some have members by a pattern, such as those with the tag of a language.
  const patterns = Object.keys((schema.meta()?.['patternProperties'] as object | undefined) ?? {});
  const isKnown = (name: string): boolean =>
    Object.hasOwn(schema.shape, name) || patterns.some((pattern) => new RegExp(pattern, 'u').test(name));
  const unknown = Object.entries(patch).filter(([name]) => !isKnown(name));
  return Object.fromEntries([...Object.entries(merged as object), ...unknown]);
}

const find = async (call: ReadCall, { collection }: Operation, { ids }: AdminRequest): Promise<Item | undefined> =>
  collection.find?.(call, ids);

/** What is there, as a write finds it: held until the transaction ends where the collection can be. */
const findForWrite = async (
  call: WriteCall,
  { collection }: Operation,
  { ids }: AdminRequest,
): Promise<Item | undefined> =>
  collection.findLocked ? collection.findLocked(call, ids) : collection.find?.({ ...call, db: call.trx }, ids);

function requireFound({ collection }: Operation, item: Item | undefined): Item {
  if (!item) throw new Problem('not-found', `there is no such ${collection.noun}`);
  return item;
}

/** The present item, locked. @throws Problem when it is not there, or not the one that the caller has seen */
async function requireMatch(call: WriteCall, operation: Operation, request: AdminRequest): Promise<Item> {
  const item = requireFound(operation, await findForWrite(call, operation, request));
  const { if_match } = request;
  if (if_match && !if_match.includes('*') && !if_match.includes(etagOf(item))) {
    throw new Problem('precondition-failed', 'read it again: the ETag is another one now');
  }
  return item;
}

/** The answer that shows one item. The tag is of the item, not of a secret shown beside it. */
function shown(operation: Operation, body: Item): AdminAnswer {
  const item = withoutSecrets(operation, body)!;
  return { status: operation.status, body, etag: etagOf(item) };
}

function withoutSecrets(operation: Operation, body: Item | undefined): Item | undefined {
  const hidden =
    (operation.kind === 'create' ? operation.create.once : operation.kind === 'action' && operation.action.once) || [];
  return body && Object.fromEntries(Object.entries(body).filter(([name]) => !hidden.includes(name)));
}

/** A strong entity tag of an item. The order of its members says nothing: a stored answer has lost it. */
const etagOf = (item: Item): string =>
  `"${createHash('sha256')
    .update(JSON.stringify(item, (_name, value: unknown) => (isPlain(value) ? inOrder(value) : value)))
    .digest('base64url')
    .slice(0, 27)}"`;

const isPlain = (value: unknown): value is Item => typeof value === 'object' && value !== null && !Array.isArray(value);
const inOrder = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).toSorted(([one], [other]) => (one < other ? -1 : 1)));

/** What makes a request the same one. A body may hold a password: what is kept of it is a MAC under a key of ours. */
const macParts = ({ method, path }: Operation, { ids, body }: AdminRequest): string[] => [
  method,
  fill(path, ids),
  JSON.stringify(body ?? null),
];

const segment = (value: unknown): string => encodeURIComponent(String(value));

/** A path with its parameters in place. */
export const fill = (path: string, ids: Ids): string =>
  path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => segment(ids[name]));
