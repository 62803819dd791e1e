/** Values drawn from a JSON Schema: what it allows, what it nearly allows, and what strangers send instead. */
import fc from 'fast-check';

/** The parts of JSON Schema 2020-12 that our schemas are written in. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | boolean;
  propertyNames?: JsonSchema;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
}

/** Values that are known to mean something, by the name of the member or parameter that they go into. */
export type Known = Readonly<Record<string, readonly string[]>>;

/** Text that has broken somebody's server before. */
export const HOSTILE_TEXT: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\uD800',
  'x\uDFFF',
  '__proto__',
  'constructor',
  'toString',
  '../../..',
  '%2e%2e%2f',
  '%',
  '*',
  "'; drop table clients; --",
  '${jndi:ldap://x}',
  '<script>alert(1)</script>',
  'javascript:alert(1)',
  'https://[',
  'https://127.0.0.1/',
  '-1',
  '1e999',
  'NaN',
  '9007199254740993',
  '99999999999999999999',
  '0000-00-00T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '+275760-09-13T00:00:00Z',
  '00000000-0000-0000-0000-000000000000',
  '\u202Egnp.exe',
  'İ',
  'a'.repeat(300),
  '𐍈'.repeat(3000),
];

const deep = (depth: number): unknown =>
  depth === 0 ? 1 : depth % 2 === 0 ? [deep(depth - 1)] : { a: deep(depth - 1) };

/** JSON values of any kind, none of them asked for. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...HOSTILE_TEXT) },
  { weight: 3, arbitrary: fc.constantFrom(null, true, 0, -1, 1.5, 1e308, -(2 ** 53), 2 ** 31, [], {}, [[]], [null]) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      deep(20),
      deep(200),
      Array.from({ length: 2000 }, () => 'a'),
    ),
  },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** What a schema allows, as far as it says; what else a rule wants, luck has to bring. */
export function valueOf(schema: JsonSchema, known: Known = {}, name = ''): fc.Arbitrary<unknown> {
  const plain = plainValueOf(schema, known, name);
  const names = Object.hasOwn(known, name) ? known[name]! : [];
  return names.length === 0
    ? plain
    : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: plain });
}

function plainValueOf(schema: JsonSchema, known: Known, name: string): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => valueOf(choice, known, name)));
  if (schema.allOf) return valueOf(Object.assign({}, ...schema.allOf) as JsonSchema, known, name);
  const [type = 'any', ...types] = [schema.type ?? []].flat();
  if (types.length > 0)
    return fc.oneof(...[type, ...types].map((each) => plainValueOf({ ...schema, type: each }, known, name)));
  switch (type) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -10, max: Math.min(schema.maximum ?? 1000, 2 ** 31 - 1) });
    case 'number':
      return fc.double({ min: schema.minimum ?? -10, max: schema.maximum ?? 1000, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(valueOf(schema.items ?? {}, known, name.replace(/s$/, '')), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, (schema.minItems ?? 0) + 3),
      });
    case 'object':
      return objectOf(schema, known);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

function textOf({ pattern, format, minLength = 0, maxLength = 40 }: JsonSchema): fc.Arbitrary<string> {
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (format === 'uri') return fc.webUrl();
  if (pattern !== undefined) {
    const matching = new RegExp(pattern, 'u');
    return fc.stringMatching(matching).filter((text) => text.length >= minLength);
  }
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)), unit: 'grapheme-ascii' });
}

function objectOf(schema: JsonSchema, known: Known): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const members = Object.entries(properties).map(([name, member]) => {
    const value = valueOf(member, known, name);
    const present = required.includes(name) ? value : fc.option(value, { nil: undefined, freq: 2 });
    return present.map((drawn) => [name, drawn] as const);
  });
  const more =
    typeof additionalProperties === 'object'
      ? fc.array(fc.tuple(fc.string({ minLength: 1, maxLength: 10 }), valueOf(additionalProperties, known)), {
          maxLength: 2,
        })
      : fc.constant([]);
  return fc
    .tuple(fc.tuple(...members), more)
    .map(([own, others]) => Object.fromEntries([...own, ...others].filter(([, value]) => value !== undefined)));
}

/** A value in which one thing is not as it should be: a member replaced, gone, or one too many. */
export const nearly = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(value, hostileValue, fc.nat(), fc.constantFrom('replace', 'remove', 'add'))
    .map(([whole, wrong, at, how]) => {
      if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return wrong;
      const members = Object.entries(whole);
      if (how === 'add' || members.length === 0) {
        const name = HOSTILE_TEXT[at % HOSTILE_TEXT.length]!;
        return Object.fromEntries([...members, [name, wrong]]);
      }
      const index = at % members.length;
      if (how === 'remove') return Object.fromEntries(members.toSpliced(index, 1));
      return Object.fromEntries(members.with(index, [members[index]![0], wrong]));
    });
