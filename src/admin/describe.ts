/** The OpenAPI 3.1 document, from the schemas that check the requests. */
import { z } from 'zod';
import { NDJSON } from './list.ts';
import { answerOf, type Operation } from './operation.ts';
import { PROBLEM_CODES, Problem } from './problem.ts';

type Json = Record<string, unknown>;

/** A schema as JSON Schema 2020-12: what is accepted (`input`), or what is answered (`output`). */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

const problem = z.strictObject({
  type: z.string().describe('`urn:postern:problem:` and a code'),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string(),
  request_id: z.string().describe('Also in the header X-Request-Id, and in the log'),
  errors: z
    .array(
      z.strictObject({
        pointer: z.string().describe('JSON Pointer into the body, or ? and a parameter of the query'),
        detail: z.string(),
        code: z.string(),
      }),
    )
    .optional(),
});

const refusals = [...new Set(PROBLEM_CODES.map((code) => new Problem(code, '').status))].toSorted((a, b) => a - b);

/** Describes every operation, for a server at this issuer. */
export function describeApi(
  operations: readonly Operation[],
  url: string,
  scopes: ReadonlyMap<string, string>,
  issuer: string,
): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = describeOperation(operation);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Postern admin API',
      version: '1',
      description:
        'Everything an operator keeps. Access tokens come from the token endpoint by client_credentials, with this URL as resource.',
    },
    servers: [{ url }],
    paths,
    components: {
      schemas: { Problem: schemaOf(problem, 'output') },
      responses: {
        Problem: {
          description: 'A refusal (RFC 9457)',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
      securitySchemes: {
        oauth2: {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl: `${issuer}/token`, scopes: Object.fromEntries(scopes) } },
        },
      },
    },
  };
}

function describeOperation(operation: Operation): Json {
  const { resource, name, path, summary, scope, status, method } = operation;
  const answer = answerOf(operation);
  const body = bodyOf(operation);
  const statuses = operation.kind === 'replace' && operation.replace.creates ? [200, 201] : [status];
  const lines =
    operation.kind === 'list' && operation.list.exports
      ? { [NDJSON]: { schema: schemaOf(resource.item, 'output') } }
      : {};
  const content = answer && { content: { 'application/json': { schema: schemaOf(answer, 'output') }, ...lines } };
  return {
    operationId: `${path
      .split('/')
      .filter((part) => part !== '' && !part.startsWith('{'))
      .join('_')}_${name}`.replaceAll('-', '_'),
    summary,
    tags: [resource.path.split('/')[1]],
    security: [{ oauth2: [scope] }],
    parameters: [...pathParameters(path), ...queryParameters(operation), ...headerParameters(operation)],
    ...(body && {
      requestBody: {
        required: method !== 'POST' || !body.safeParse(undefined).success,
        content: {
          [method === 'PATCH' ? 'application/merge-patch+json' : 'application/json']: {
            schema: bodySchema(operation, body),
          },
        },
      },
    }),
    responses: {
      ...Object.fromEntries(statuses.map((code) => [code, { description: summary, ...content }])),
      ...Object.fromEntries(refusals.map((code) => [code, { $ref: '#/components/responses/Problem' }])),
    },
  };
}

function bodyOf(operation: Operation): z.ZodType | undefined {
  if (operation.kind === 'create') return operation.create.body;
  if (operation.kind === 'action') return operation.action.body;
  return operation.kind === 'replace' || operation.kind === 'update' ? operation.replace.body : undefined;
}

/** A merge patch (RFC 7396) names what changes: nothing is required, and null takes a member away. */
function bodySchema({ method }: Operation, body: z.ZodType): Json {
  const schema = schemaOf(body, 'input');
  if (method !== 'PATCH') return schema;
  const { required: _, properties = {}, ...rest } = schema;
  const nullable = Object.entries(properties as Json).map(([name, member]) => [
    name,
    { anyOf: [member, { type: 'null' }] },
  ]);
  return { ...rest, properties: Object.fromEntries(nullable) as Json };
}

const pathParameters = (path: string): Json[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));

function queryParameters(operation: Operation): Json[] {
  if (operation.kind !== 'list') return [];
  const { properties = {} } = schemaOf(operation.query, 'input') as { properties?: Json };
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }));
}

const TEXT = { type: 'string', maxLength: 255 };

function headerParameters({ kind, method }: Operation): Json[] {
  if (method === 'POST') return [{ name: 'Idempotency-Key', in: 'header', schema: TEXT }];
  return kind === 'list' || kind === 'get' ? [] : [{ name: 'If-Match', in: 'header', schema: TEXT }];
}
