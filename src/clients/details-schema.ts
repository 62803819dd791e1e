/**
 * The form of authorization details (RFC 9396 §2): JSON Schema, of keywords that are read in time proportional to what they read. There
 * are no patterns and no references: an operator's slip is no way to keep a processor busy, and nothing is fetched.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import { LRUCache } from 'lru-cache';
import { escapedName, type AuthorizationDetail } from '../protocol/authorization-details.ts';
import { isUriText } from '../protocol/uri.ts';

export type DetailsSchema = Readonly<Record<string, unknown>>;

/** Characters of a schema as JSON. */
const MAX_SCHEMA = 16_384;
const MAX_DEPTH = 12;

/** What stands under a keyword: schemas, by name, in a list, or one. The others hold values. */
const KEYWORDS: Readonly<Record<string, 'value' | 'schema' | 'schemas' | 'properties'>> = {
  title: 'value',
  description: 'value',
  type: 'value',
  enum: 'value',
  const: 'value',
  format: 'value',
  minLength: 'value',
  maxLength: 'value',
  minimum: 'value',
  maximum: 'value',
  exclusiveMinimum: 'value',
  exclusiveMaximum: 'value',
  multipleOf: 'value',
  required: 'value',
  minProperties: 'value',
  maxProperties: 'value',
  minItems: 'value',
  maxItems: 'value',
  uniqueItems: 'value',
  additionalProperties: 'value',
  properties: 'properties',
  items: 'schema',
  allOf: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
};

/** Ours alone: each looks at a text once. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text)),
  uri: (text) => isUriText(text) && URL.canParse(text),
  amount: (text) => /^\d{1,18}(?:\.\d{1,6})?$/.test(text),
  currency: (text) => /^[A-Z]{3}$/.test(text),
};

/** Why a schema cannot be a type's; undefined where it can. */
export function schemaProblem(name: string, schema: DetailsSchema): string | undefined {
  if (JSON.stringify(schema).length > MAX_SCHEMA) return `is longer than ${MAX_SCHEMA} characters`;
  if (schema['type'] !== 'object') return 'must say "type": "object"';
  const problem = problemAt(schema, '', 0, false);
  if (problem !== undefined) return problem;
  try {
    compile(name, schema);
    return undefined;
  } catch (error) {
    return `cannot be read: ${(error as Error).message.slice(0, 300)}`;
  }
}

/** `part`: of a whole that says itself which members there are. */
function problemAt(schema: unknown, at: string, depth: number, part: boolean): string | undefined {
  const place = at === '' ? 'the schema' : at;
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return `${place} must be an object`;
  if (depth > MAX_DEPTH) return `${place} is nested too deep`;
  const known = schema as DetailsSchema;
  const strange = Object.keys(known).find((keyword) => !Object.hasOwn(KEYWORDS, keyword));
  if (strange !== undefined)
    return `${place} has the keyword ${strange}, which is not taken (${Object.keys(KEYWORDS).join(', ')})`;
  const { type, format, properties, additionalProperties } = known;
  if (format !== undefined && !(typeof format === 'string' && Object.hasOwn(FORMATS, format))) {
    return `${place} has a format that there is not (${Object.keys(FORMATS).join(', ')})`;
  }
  if (additionalProperties !== undefined && additionalProperties !== false)
    return `${place}: additionalProperties can only be false`;
  // RFC 9396 §5: what is not known is refused, so what is known has to be said.
  const isOfMembers = properties !== undefined || [type].flat().includes('object');
  if (isOfMembers && !part && additionalProperties !== false) return `${place} must say "additionalProperties": false`;
  if (isOfMembers && !part && properties === undefined) return `${place} must name its properties`;
  for (const [keyword, value] of Object.entries(known)) {
    const below = belowOf(KEYWORDS[keyword]!, value);
    if (below === undefined) return `${place}: ${keyword} is malformed`;
    const within = part || keyword.endsWith('Of');
    for (const [name, one] of below) {
      const problem = problemAt(one, `${at}/${keyword}${name}`, depth + 1, within && keyword.endsWith('Of'));
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function belowOf(
  kind: 'value' | 'schema' | 'schemas' | 'properties',
  value: unknown,
): Array<[string, unknown]> | undefined {
  if (kind === 'value') return [];
  if (kind === 'schema') return [['', value]];
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== (kind === 'schemas')) return undefined;
  return Object.entries(value).map(([name, one]) => [`/${escapedName(name)}`, one]);
}

/** The schema of the member that a JSON Pointer leads to; undefined where the schema has none. */
export function schemaAt(schema: DetailsSchema, pointer: string): DetailsSchema | undefined {
  if (!pointer.startsWith('/')) return undefined;
  let here: DetailsSchema | undefined = schema;
  for (const part of pointer.slice(1).split('/')) {
    const properties: unknown = here?.['properties'];
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    here =
      typeof properties === 'object' && properties !== null && Object.hasOwn(properties, name)
        ? (properties as Record<string, DetailsSchema>)[name]
        : undefined;
  }
  return here;
}

/** Also as text: rows are read anew every few seconds, and seldom differ. */
const compiled = new LRUCache<string, ValidateFunction>({ max: 500 });
const byRow = new WeakMap<object, ValidateFunction>();

/** Compiles a schema, once. `type` is the name of the type, whatever else the schema says. @throws Error */
function compile(name: string, schema: DetailsSchema): ValidateFunction {
  const key = `${name} ${JSON.stringify(schema)}`;
  const present = compiled.get(key);
  if (present) return present;
  const ajv = new Ajv({
    strict: true,
    strictTypes: true,
    allowUnionTypes: true,
    ownProperties: true,
    logger: false,
    formats: FORMATS,
  });
  const properties = { ...(schema['properties'] as object | undefined), type: { const: name } };
  const required = [...new Set([...((schema['required'] as string[] | undefined) ?? []), 'type'])];
  const validate = ajv.compile({ ...schema, properties, required });
  compiled.set(key, validate);
  return validate;
}

/** Why a detail does not have the form of its type today; undefined where it has. */
export function formProblem(
  type: { name: string; schema: DetailsSchema },
  detail: AuthorizationDetail,
): string | undefined {
  let validate = byRow.get(type);
  if (!validate) byRow.set(type, (validate = compile(type.name, type.schema)));
  if (validate(detail)) return undefined;
  const [error] = validate.errors ?? [];
  if (!error) return 'the detail is wrong';
  const { instancePath, message = 'is wrong', params } = error;
  const strange: unknown = params['additionalProperty'];
  return `${instancePath || 'the detail'} ${message}${typeof strange === 'string' ? ` (${strange})` : ''}`;
}
