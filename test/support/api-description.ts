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
export const documentOf = (issuer: string): Document => describeApi(issuer) as unknown as Document;

const escaped = (segment: string): string => encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'));

/** What is wrong with answers, in the eyes of the description. */
export class Judge {
  readonly document: Document;
  readonly #ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(issuer: string) {
    this.document = documentOf(issuer);
    (formats as unknown as (ajv: Ajv2020) => void)(this.#ajv);
    this.#ajv.addVocabulary(['openapi', 'info', 'servers', 'paths', 'components']);
    this.#ajv.addSchema(this.document, 'api', false, false);
  }

  described({ path, method }: Pick<Operation, 'path' | 'method'>): Described {
    return this.document.paths[path]![method.toLowerCase()]!;
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
    const said = (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
    return [...said, JSON.stringify(value)];
  }
}
