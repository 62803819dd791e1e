/** From the OpenAPI document to what the page of it shows: schemas in words, and a call for each operation. */
import { endpoints } from '../../protocol/endpoint.ts';
import type { AdminDocsProps, DocumentedField, DocumentedOperation } from '../../views/admin-docs.ts';

/** As much of JSON Schema as the document is written in. */
interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  description?: string;
}
type Content = Record<string, { schema: Schema }>;
interface DescribedOperation {
  operationId: string;
  summary: string;
  tags: string[];
  security: Array<Record<string, string[]>>;
  parameters: Array<{ name: string; in: string; required?: boolean; schema: Schema }>;
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

/** As much of the document as the page shows. */
export interface Described {
  info: { description: string };
  servers: [{ url: string }];
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, Schema> };
}

/** What the page shows, but for the frame. */
export function readable(document: Described, issuer: string): Omit<AdminDocsProps, 'frame'> {
  const { schemas } = document.components;
  const {
    info,
    servers: [{ url }],
    paths,
  } = inlined(document, schemas) as Described;
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const sections = Map.groupBy(all, ({ operation }) => operation.tags[0]!);
  return {
    url,
    description: info.description,
    openapi_url: `${url}/openapi.json`,
    token_example: [
      `TOKEN=$(curl -sS ${issuer}${endpoints.token_endpoint} -u "$CLIENT_ID:$CLIENT_SECRET" \\`,
      `  -d grant_type=client_credentials -d resource=${url} | jq -r .access_token)`,
    ].join('\n'),
    sections: [...sections].map(([name, rows]) => ({
      name,
      operations: rows.map(({ path, method, operation }) => documented(url, path, method, operation)),
    })),
  };
}

/** With every named schema in its place. None holds itself. */
function inlined(value: unknown, schemas: Described['components']['schemas']): unknown {
  if (Array.isArray(value)) return value.map((item) => inlined(item, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as Schema;
  const named = $ref === undefined ? undefined : schemas[$ref.replace(/^#\/components\/schemas\//, '')];
  const members = Object.entries({ ...named, ...rest, ...($ref !== undefined && !named && { $ref }) });
  return Object.fromEntries(members.map(([name, member]) => [name, inlined(member, schemas)]));
}

function documented(url: string, path: string, method: string, operation: DescribedOperation): DocumentedOperation {
  const { operationId, summary, security, parameters, requestBody, responses } = operation;
  const [body] = Object.entries(requestBody?.content ?? {});
  const statuses = Object.keys(responses);
  const done = statuses.filter((status) => status < '300');
  const answered = responses[done[0]!]!.content?.['application/json']?.schema;
  return {
    operation_id: operationId,
    method,
    path,
    summary,
    scope: Object.values(security[0]!)[0]!.join(' '),
    parameters: [...Map.groupBy(parameters, (parameter) => parameter.in)].map(([where, given]) => [
      where,
      given.map(({ name, required = false, schema }) => fieldOf(name, schema, required)),
    ]),
    body: body ? { media_type: body[0], fields: fieldsOf(body[1].schema) } : null,
    answer: { status: done.join(' or '), fields: answered ? fieldsOf(answered) : null },
    refusals: statuses.filter((status) => status >= '300'),
    example: exampleOf(url, path, method, body),
  };
}

const fieldOf = (name: string, schema: Schema, required: boolean): DocumentedField => ({
  name,
  type: inWords(schema),
  required,
  description: schema.description,
});

/** The members of an object; of one that may also be something else, those of the object. */
function fieldsOf(schema: Schema): DocumentedField[] {
  const object = [schema, ...(schema.anyOf ?? [])].find(({ properties }) => properties !== undefined);
  const { properties = {}, required = [] } = object ?? {};
  return Object.entries(properties).map(([name, member]) => fieldOf(name, member, required.includes(name)));
}

function inWords({ type, format, items, minimum, maximum, maxLength, ...schema }: Schema): string {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(inWords))].join(' or ');
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (type === 'array') return `list of ${inWords(items ?? {})}`;
  if (type === 'integer' || type === 'number') return `${type}${range(minimum, maximum)}`;
  if (type === 'string') return format ?? (maxLength === undefined ? 'string' : `string of at most ${maxLength}`);
  return type ?? 'anything';
}

/** Without the bounds that only say how numbers are kept. */
function range(minimum: number | undefined, maximum: number | undefined): string {
  const bounds = [minimum, maximum].map((bound) =>
    Number.isSafeInteger(bound) && Math.abs(bound!) < 2 ** 53 - 1 ? bound : undefined,
  );
  if (bounds.every((bound) => bound === undefined)) return '';
  return ` from ${bounds[0] ?? '…'} to ${bounds[1] ?? '…'}`;
}

function exampleOf(url: string, path: string, method: string, body: [string, { schema: Schema }] | undefined): string {
  const address = `${url}${path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => `$${name.toUpperCase()}`)}`;
  const parts = [
    `curl -sS ${method === 'GET' ? '' : `-X ${method} `}"${address}"`,
    '-H "Authorization: Bearer $TOKEN"',
    ...(method === 'POST' ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(method === 'PUT' || method === 'PATCH' ? ['-H "If-Match: $ETAG"'] : []),
    ...(body
      ? [
          `-H "Content-Type: ${body[0]}"`,
          `-d '${JSON.stringify(method === 'PATCH' ? aPatchOf(body[1].schema) : sampleOf(body[1].schema))}'`,
        ]
      : []),
  ];
  return parts.join(' \\\n  ');
}

/** One member, as a merge patch names it. */
function aPatchOf({ properties = {} }: Schema): unknown {
  const [first] = Object.keys(properties);
  return first === undefined ? {} : { [first]: sampleOf(properties[first]!) };
}

/** The members that have to be there. */
function sampleOf({ type, properties = {}, required = [], items, minimum, format, ...schema }: Schema): unknown {
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (choice) return sampleOf(choice);
  if (schema.enum) return schema.enum[0];
  if (type === 'object') {
    return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name]!)]));
  }
  if (type === 'array') return items ? [sampleOf(items)] : [];
  if (type === 'integer' || type === 'number') return Math.max(minimum ?? 1, 1);
  if (type === 'boolean') return true;
  return format === 'uri' ? 'https://app.example.test' : '…';
}
