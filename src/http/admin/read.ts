/** Reads an admin request besides its path: query, If-Match, Idempotency-Key and media types. */
import type { FastifyRequest } from 'fastify';
import { NDJSON, Problem, type Operation } from '../../admin/index.ts';
import { ENTITY_TAG, IDEMPOTENCY_KEY, IF_MATCH } from '../../admin/api/headers.ts';
import type { KeyOf } from '../../store/idempotency-keys.ts';
import { parseForm } from '../../protocol/form-encoding.ts';

/** The query, each parameter once, in a list's with a value. @throws Problem for a repeated, empty or malformed one */
export function queryOf(request: FastifyRequest, { kind }: Operation): Record<string, unknown> {
  const parameters: Record<string, unknown> = Object.create(null);
  for (const [name, value] of parseForm((request.query as { text: string }).text)) {
    const wrong =
      name in parameters
        ? ['is repeated', 'repeated']
        : value === '' && kind === 'list'
          ? ['is empty', 'empty']
          : undefined;
    if (wrong) {
      const [detail, code] = wrong as [string, string];
      throw new Problem('invalid', 'the query is not valid', { errors: [{ pointer: `?${name}`, detail, code }] });
    }
    parameters[name] = value;
  }
  return parameters;
}

const TAGS = new RegExp(IF_MATCH);
const EACH_TAG = new RegExp(ENTITY_TAG, 'g');

/** The entity tags of If-Match; undefined when there is none. @throws Problem for what is no list of them */
export function ifMatchOf({ headers }: FastifyRequest): string[] | undefined {
  const text = headers['if-match'];
  if (text === undefined) return undefined;
  // Half understood, it would protect nothing.
  if (!TAGS.test(text)) {
    throw new Problem('invalid', 'If-Match is * or a list of entity tags in quotes', { check: 'if_match' });
  }
  return text === '*' ? [text] : text.match(EACH_TAG)!;
}

const KEY = new RegExp(IDEMPOTENCY_KEY);

/** The Idempotency-Key of a POST, and whose it is. @throws Problem for one that cannot be kept */
export function idempotencyOf({ headers }: FastifyRequest, principal: string): KeyOf | undefined {
  const text = headers['idempotency-key'];
  if (text === undefined) return undefined;
  if (typeof text !== 'string' || !KEY.test(text)) {
    throw new Problem('invalid', 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  }
  return { principal, key: text.replaceAll('"', '') };
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
