/** The OpenAPI 3.1 document of the account API, from the schemas that check its requests. */
import { pathParameters, parameterOf, problem, refusals } from '../../admin/api/describe.ts';
import { schemaOf, Schemas, typeName, type Json } from '../../admin/api/schemas.ts';
import { z } from 'zod';
import { ACCOUNT_SCOPE, accountApiOf } from '../../protocol/account-api.ts';
import { WELL_KNOWN } from '../../protocol/endpoint.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';

/** Describes every operation, for a server at this issuer. */
export function describeAccountApi(issuer: string): Json {
  const schemas = new Schemas();
  const refusal = schemas.add('Problem', schemaOf(problem, 'output'));
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = describeOperation(operation, schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Postern account API',
      version: '1',
      description: 'What people do about their own account, for front ends of the service itself.',
    },
    servers: [{ url: accountApiOf(issuer) }],
    paths,
    components: {
      schemas: schemas.all(),
      responses: {
        Problem: { description: 'A refusal (RFC 9457)', content: { 'application/problem+json': { schema: refusal } } },
      },
      securitySchemes: {
        login: { type: 'http', scheme: 'bearer', description: 'The access token of POST /login' },
        application: {
          type: 'openIdConnect',
          openIdConnectUrl: `${issuer}${WELL_KNOWN[0]}`,
          description: `An access token with the scope ${ACCOUNT_SCOPE}, for this API alone (RFC 8707)`,
        },
      },
    },
  };
}

const FRESH = 'Needs a sign-in of the last five minutes (RFC 9470, max_age=300).';
const TRUSTED = 'Only for the token of POST /login, or of an application that an operator lets in without consent.';

function describeOperation(
  { name, path, summary, fresh, trusted, query, body, answer }: Operation,
  schemas: Schemas,
): Json {
  const called = typeName(name);
  const content = answer && {
    content: { 'application/json': { schema: schemas.add(`${called}Answer`, schemaOf(answer, 'output')) } },
  };
  return {
    operationId: name,
    summary,
    ...((fresh || trusted) && { description: [fresh && FRESH, trusted && TRUSTED].filter(Boolean).join(' ') }),
    tags: [path.split('/')[1] || 'account'],
    security: [{ login: [] }, { application: [ACCOUNT_SCOPE] }],
    parameters: [...pathParameters(path), ...queryParameters(query)],
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemas.add(`${called}Body`, schemaOf(body, 'input')) } },
      },
    }),
    responses: {
      [statusOf({ answer })]: { description: summary, ...content },
      ...Object.fromEntries(refusals.map((code) => [code, { $ref: '#/components/responses/Problem' }])),
    },
  };
}

/** What an operation that is done is answered with. */
export const statusOf = ({ answer }: Pick<Operation, 'answer'>): number => (answer === null ? 204 : 200);

const queryParameters = (query: z.ZodType | undefined): Json[] =>
  query instanceof z.ZodObject
    ? Object.entries(query.shape).map(([name, schema]) => ({
        name,
        in: 'query',
        schema: parameterOf(schema as z.ZodType),
      }))
    : [];
