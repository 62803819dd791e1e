/** What the doors of operators read of a request besides its path: query, conditions, keys and media types. */
import type { FastifyRequest } from 'fastify';
import { NDJSON, Problem, type Operation } from '../../admin/index.ts';
import type { KeyOf } from '../../store/idempotency-keys.ts';
import { listedParameters, parseForm } from '../../protocol/form-encoding.ts';

/** The query, each parameter once. @throws Problem for a repeated or malformed one */
export function queryOf(request: FastifyRequest): Record<string, unknown> {
  const parameters: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(listedParameters(parseForm((request.query as { text: string }).text)))) {
    // `resource` is always a list: elsewhere it may be repeated.
    const [first, ...more] = [value].flat();
    if (more.length === 0) parameters[name] = first;
    else {
      throw new Problem('invalid', 'the query is not valid', {
        errors: [{ pointer: `?${name}`, detail: 'is repeated', code: 'repeated' }],
      });
    }
  }
  return parameters;
}

/** Entity tags, and nothing but commas and space between them (RFC 9110 §8.8.3, §5.6.1). */
const TAG = /(?:W\/)?"[\x21\x23-\x7E\x80-\xFF]*"/g;
const BETWEEN = /^[ \t]*(?:,[ \t]*)*$/;

/** The entity tags of If-Match (RFC 9110 §13.1.1); undefined when there is none. @throws Problem for what is no list of them */
export function ifMatchOf({ headers }: FastifyRequest): string[] | undefined {
  const text = headers['if-match'];
  if (text === undefined) return undefined;
  const tags = text === '*' ? [text] : (text.match(TAG) ?? []);
  // Half understood, it would protect nothing.
  const rest = text === '*' ? [] : text.split(TAG);
  const apart = rest.every((each, i) => BETWEEN.test(each) && (i === 0 || i === rest.length - 1 || each.includes(',')));
  if (tags.length === 0 || !apart) {
    throw new Problem('invalid', 'If-Match is * or a list of entity tags in quotes', { check: 'if_match' });
  }
  return tags;
}

/** An Idempotency-Key: visible ASCII, with or without the quotes of a structured field's string. */
const KEY = /^"?([\x21\x23-\x7E]{1,255}?)"?$/;

/** The Idempotency-Key of a POST, and whose it is. @throws Problem for one that cannot be kept */
export function idempotencyOf({ headers }: FastifyRequest, principal: string): KeyOf | undefined {
  const text = headers['idempotency-key'];
  if (text === undefined) return undefined;
  const key = typeof text === 'string' ? KEY.exec(text)?.[1] : undefined;
  if (key === undefined) throw new Problem('invalid', 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  return { principal, key };
}

const MEDIA_TYPE = /^application\/(json|merge-patch\+json)(?: *; *charset="?utf-8"?)?$/i;

/** Refuses a body in a type that its method does not take, before it is read. */
export function requireJson({ headers }: FastifyRequest, { method }: Operation): void {
  if (method === 'GET' || method === 'DELETE') return;
  const type = headers['content-type'];
  const empty = type === undefined && (headers['content-length'] ?? '0') === '0' && !headers['transfer-encoding'];
  const [, subtype] = MEDIA_TYPE.exec(type ?? '') ?? [];
  const takes = method === 'PATCH' ? 'application/merge-patch+json or application/json' : 'application/json';
  // An action may have nothing to say.
  if (empty && method === 'POST') return;
  if (subtype === undefined || (subtype.toLowerCase() !== 'json' && method !== 'PATCH')) {
    throw new Problem('unsupported-media-type', `send ${takes}`);
  }
}

/** What an operation can answer with; the first is meant where anything will do. */
const typesOf = (operation: Operation): string[] =>
  operation.kind === 'list' && operation.list.exports ? ['application/json', NDJSON] : ['application/json'];

/** Refuses who wants none of what can be answered (RFC 9110 §12.5.1). @throws Problem */
export function requireAccept(request: FastifyRequest, operation: Operation): void {
  const types = typesOf(operation);
  if (request.accepts().type(types) === false) throw new Problem('not-acceptable', `ask for ${types.join(' or ')}`);
}

/** Is a list wanted whole, a line each? */
export const wantsExport = (request: FastifyRequest, operation: Operation): boolean =>
  request.accepts().type(typesOf(operation)) === NDJSON;
