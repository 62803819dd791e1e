/** The OpenAPI 3.1 document, from the schemas that check the requests. */
import { z } from 'zod';
import { endpoints } from '../../protocol/endpoint.ts';
import { NDJSON } from './list.ts';
import { IDEMPOTENCY_KEY, IF_MATCH } from './headers.ts';
import { answerOf, operationId, type Operation } from './operation.ts';
import { PROBLEM_CODES, Problem } from './problem.ts';
import { schemaOf, Schemas, PARAMETER_TEXT, typeName, type Json } from './schemas.ts';

/** The schema of a refusal. */
export const problem = z.strictObject({
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

/** The statuses of refusals. */
export const refusals = [...new Set(PROBLEM_CODES.map((code) => new Problem(code, '').status))].toSorted(
  (a, b) => a - b,
);

/** Describes every operation, for a server at this issuer. */
export function describeApi(
  operations: readonly Operation[],
  url: string,
  scopes: ReadonlyMap<string, string>,
  issuer: string,
): Json {
  const paths: Record<string, Json> = {};
  const schemas = new Schemas();
  const refusal = schemas.add('Problem', schemaOf(problem, 'output'));
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = describeOperation(operation, schemas);
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
      schemas: schemas.all(),
      responses: {
        Problem: {
          description: 'A refusal (RFC 9457)',
          content: { 'application/problem+json': { schema: refusal } },
        },
      },
      securitySchemes: {
        oauth2: {
          type: 'oauth2',
          flows: {
            clientCredentials: { tokenUrl: `${issuer}${endpoints.token_endpoint}`, scopes: Object.fromEntries(scopes) },
          },
        },
      },
    },
  };
}

function describeOperation(operation: Operation, schemas: Schemas): Json {
  const { collection, path, summary, scope, status, method } = operation;
  const body = bodyOf(operation);
  const statuses = operation.kind === 'replace' && operation.replace.creates ? [200, 201] : [status];
  const content = answerContent(operation, schemas);
  return {
    operationId: operationId(operation),
    summary,
    tags: [collection.path.split('/')[1]],
    security: [{ oauth2: [scope] }],
    parameters: [...pathParameters(path), ...queryParameters(operation), ...headerParameters(operation)],
    ...(body && {
      requestBody: {
        required: method !== 'POST' || !body.safeParse(undefined).success,
        content: {
          [method === 'PATCH' ? 'application/merge-patch+json' : 'application/json']: {
            schema: schemas.add(bodyName(operation), bodySchema(operation, body)),
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

/** The content of a success; nothing where it has none. */
function answerContent(operation: Operation, schemas: Schemas): Json | undefined {
  const { collection, kind } = operation;
  const answer = answerOf(operation);
  if (answer === null) return undefined;
  const name = typeName(collection.noun);
  const add = (called: string, schema: z.ZodType): Json => schemas.add(called, schemaOf(schema, 'output'));
  if (kind !== 'list') {
    const called = answer === collection.item ? name : `${typeName(operationId(operation))}Answer`;
    return { content: { 'application/json': { schema: add(called, answer) } } };
  }
  const item = add(name, collection.item);
  const { properties, ...list } = schemaOf(answer, 'output');
  const schema = { ...list, properties: { ...(properties as Json), items: { type: 'array', items: item } } };
  const lines = operation.list.exports ? { [NDJSON]: { schema: item } } : {};
  return { content: { 'application/json': { schema: schemas.add(`${name}List`, schema) }, ...lines } };
}

/** `ClientCreate`, `ClientReplace`, `ClientUpdate`, and an action's own. */
const bodyName = (operation: Operation): string =>
  operation.kind === 'action'
    ? `${typeName(operationId(operation))}Body`
    : `${typeName(operation.collection.noun)}${typeName(operation.kind)}`;

function bodyOf(operation: Operation): z.ZodType | undefined {
  if (operation.kind === 'create') return operation.create.body;
  if (operation.kind === 'action') return operation.action.body;
  return operation.kind === 'replace' || operation.kind === 'update' ? operation.replace.body : undefined;
}

/** A merge patch (RFC 7396) names what changes: nothing is required, and null takes away what need not be there. */
function bodySchema({ method }: Operation, body: z.ZodType): Json {
  const schema = schemaOf(body, 'input');
  if (method !== 'PATCH') return schema;
  const { required = [], properties = {}, ...rest } = schema;
  const nullable = Object.entries(properties as Json).map(([name, member]) => [
    name,
    (required as string[]).includes(name) ? member : { anyOf: [member, { type: 'null' }] },
  ]);
  return { ...rest, properties: Object.fromEntries(nullable) as Json };
}

/** The parameters in a path's braces. */
export const pathParameters = (path: string): Json[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));

function queryParameters(operation: Operation): Json[] {
  if (operation.kind !== 'list') return [];
  return Object.entries(operation.query.shape).map(([name, schema]) => ({
    name,
    in: 'query',
    schema: parameterOf(schema as z.ZodType),
  }));
}

/** A parameter by its meaning, where that is a number or a boolean; else by the text that is accepted. */
export function parameterOf(schema: z.ZodType): Json {
  const output = schemaOf(schema, 'output');
  return output['type'] === 'integer' || output['type'] === 'boolean'
    ? output
    : schemaOf(schema, 'input', PARAMETER_TEXT);
}

function headerParameters({ kind, method }: Operation): Json[] {
  const header = (name: string, pattern: string): Json => ({ name, in: 'header', schema: { type: 'string', pattern } });
  if (method === 'POST') return [header('Idempotency-Key', IDEMPOTENCY_KEY)];
  return kind === 'list' || kind === 'get' ? [] : [header('If-Match', IF_MATCH)];
}
