/** The API's own description as a judge: is an answer one that it promises? */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { LightMyRequestResponse } from 'fastify';
import { describe as describeApi, type Operation } from '../../src/admin/index.ts';
import type { JsonSchema } from './schema-values.ts';

interface Response {
  $ref?: string;
  content?: Record<string, { schema: JsonSchema }>;
  headers?: Record<string, unknown>;
}
export interface Described {
  operationId: string;
  summary: string;
  security: Array<Record<string, string[]>>;
  parameters: Array<{ name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: JsonSchema }>;
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, Response>;
}
export interface Document {
  openapi: string;
  servers: Array<{ url: string }>;
  paths: Record<string, Record<string, Described>>;
  components: { responses: Record<string, Response>; schemas: Record<string, JsonSchema> };
}

/** The document of this issuer. */
const documentOf = (issuer: string): Document => describeApi(issuer) as unknown as Document;

/** With every named schema in its place. */
function inlined<T>(value: T, { schemas }: Document['components']): T {
  if (Array.isArray(value)) return value.map((item) => inlined<unknown>(item, { schemas } as never)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const { $ref = '', ...rest } = value as JsonSchema;
  const named = schemas[$ref.replace(/^#\/components\/schemas\//, '')];
  if ($ref !== '' && !named) return value;
  const members = Object.entries({ ...named, ...rest });
  return Object.fromEntries(members.map(([name, member]) => [name, inlined(member, { schemas } as never)])) as T;
}

/** A request as the description sees it: texts, before anybody reads them. */
export interface Sent {
  query: string;
  headers: Readonly<Record<string, string | undefined>>;
  payload: string | undefined;
}

const escaped = (segment: string): string => encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'));

/** The parameters of a query by name; undefined where they are no UTF-8, or one comes twice. */
function pairsIn(query: string): Map<string, string> | undefined {
  const pairs = query
    .slice(1)
    .split('&')
    .filter((part) => part !== '')
    .map((part) => part.replaceAll('+', ' ').split(/=(.*)/s));
  try {
    const read = pairs.map(([name = '', value = '']) => [decodeURIComponent(name), decodeURIComponent(value)] as const);
    const named = new Map(read);
    return named.size === read.length ? named : undefined;
  } catch {
    return undefined;
  }
}

/** What a text in a query stands for (OpenAPI 3.1 §4.8.12, style form); itself, where it is no value of the type. */
function meant({ type }: JsonSchema, text: string): unknown {
  if (type === 'integer') return /^(?:0|-?[1-9]\d*)$/.test(text) ? Number(text) : text;
  return type === 'boolean' && /^(?:true|false)$/.test(text) ? text === 'true' : text;
}

/** What is wrong with answers, in the eyes of the description. */
export class Judge {
  readonly document: Document;
  readonly #ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  readonly #unformatted = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    validateFormats: false,
  });
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #requests = new Map<string, ValidateFunction>();
  readonly #spelledOut = new Map<string, Described>();

  constructor(issuer: string) {
    this.document = documentOf(issuer);
    (formats as unknown as (ajv: Ajv2020) => void)(this.#ajv);
    this.#ajv.addVocabulary(['openapi', 'info', 'servers', 'paths', 'components']);
    this.#ajv.addSchema(this.document, 'api', false, false);
  }

  described({ path, method }: Pick<Operation, 'path' | 'method'>): Described {
    return this.document.paths[path]![method.toLowerCase()]!;
  }

  /** The same with no references in it. */
  spelledOut(operation: Pick<Operation, 'path' | 'method'>): Described {
    const key = `${operation.method} ${operation.path}`;
    const found = this.#spelledOut.get(key) ?? inlined(this.described(operation), this.document.components);
    this.#spelledOut.set(key, found);
    return found;
  }

  /**
   * What the description has against a request; undefined where it has nothing to say: of what is no JSON, no UTF-8, or
   * repeated. With `formats` those count, too, which a reader may take for mere notes.
   */
  objectionsTo(
    operation: Pick<Operation, 'path' | 'method'>,
    { query, headers, payload }: Sent,
    formats: boolean,
  ): string[] | undefined {
    const { parameters, requestBody } = this.spelledOut(operation);
    const { method, path } = operation;
    const check = (where: string, schema: JsonSchema, value: unknown): string[] => {
      const key = `${method} ${path} ${where} ${formats}`;
      const known = this.#requests.get(key) ?? (formats ? this.#ajv : this.#unformatted).compile(schema);
      this.#requests.set(key, known);
      return known(value) ? [] : [`${where} ${JSON.stringify(known.errors)}`];
    };
    const named = pairsIn(query);
    if (named === undefined) return undefined;
    const objections = parameters.flatMap(({ in: where, name, schema }) => {
      const text = where === 'query' ? named.get(name) : where === 'header' ? headers[name.toLowerCase()] : undefined;
      return text === undefined ? [] : check(`${where} ${name}`, schema, meant(schema, text));
    });
    const [content] = Object.values(requestBody?.content ?? {});
    if (payload === undefined || !content) return objections;
    try {
      const value: unknown = JSON.parse(payload);
      return JSON.stringify(value).isWellFormed() && !/\\ud[89a-f]/i.test(payload)
        ? [...objections, ...check('body', content.schema, value)]
        : undefined;
    } catch {
      return undefined;
    }
  }

  /** Nothing, when the answer is one of those that are documented. */
  faultsOf(operation: Pick<Operation, 'path' | 'method'>, answer: LightMyRequestResponse): string[] {
    const status = String(answer.statusCode);
    if (answer.statusCode >= 500) return [`answered ${status}: ${answer.body}`];
    const place = ['paths', operation.path, operation.method.toLowerCase(), 'responses', status];
    let response = this.described(operation).responses[status];
    if (response === undefined) return [`${status} is not documented: ${answer.body}`];
    if (response.$ref !== undefined) {
      const name = response.$ref.split('/').at(-1)!;
      place.splice(0, Infinity, 'components', 'responses', name);
      response = this.document.components.responses[name]!;
    }
    const type = (answer.headers['content-type'] ?? '').split(';')[0]!;
    const types = Object.keys(response.content ?? {});
    if (types.length === 0) return answer.body === '' ? [] : [`${status} has a body`];
    if (!types.includes(type)) return [`${status} has the type ${type}`];
    const schema = `api#/${[...place, 'content', type, 'schema'].map(escaped).join('/')}`;
    const lines = type.endsWith('ndjson') ? answer.body.split('\n').filter((line) => line !== '') : [answer.body];
    return lines.flatMap((line) => this.#faultsIn(schema, JSON.parse(line)));
  }

  #faultsIn(schema: string, value: unknown): string[] {
    let validate = this.#validators.get(schema);
    if (!validate) this.#validators.set(schema, (validate = this.#ajv.compile({ $ref: schema })));
    if (validate(value)) return [];
    const problems = (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
    return [...problems, JSON.stringify(value)];
  }
}
