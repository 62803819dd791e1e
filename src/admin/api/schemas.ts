/**
 * The schemas of the OpenAPI document, each with a name: whoever generates code from it gets one type for one thing, however
 * many operations answer with it.
 */
import { z } from 'zod';

export type Json = Record<string, unknown>;

/** Postgres keeps no U+0000, so no text that comes in may hold it. */
const STORABLE = '^[^\\x00]*$';
/** A parameter that is sent has a value, without control characters (protocol/form-encoding.ts). */
export const PARAMETER_TEXT = '^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]+$';

/**
 * A schema as JSON Schema 2020-12: what is accepted (`input`), or what is answered (`output`). Its patterns are such as
 * every tool can read. `free` is that of text for which there is no other.
 */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output', free = STORABLE): Json {
  const made = written.get(schema) ?? new Map<string, Json>();
  written.set(schema, made);
  const how = `${io} ${free}`;
  if (!made.has(how)) made.set(how, write(schema, io, free));
  return made.get(how)!;
}

/** What one schema is, it is wherever it is used. */
const written = new WeakMap<z.ZodType, Map<string, Json>>();

function write(schema: z.ZodType, io: 'input' | 'output', free: string): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override({ jsonSchema }) {
      const { type, pattern, format, enum: choices, const: only } = jsonSchema;
      if (pattern !== undefined) jsonSchema.pattern = portable(pattern);
      else if (
        io === 'input' &&
        type === 'string' &&
        [format, choices, only].every((keyword) => keyword === undefined)
      ) {
        jsonSchema.pattern = free;
      }
    },
  });
  return rest;
}

const spelledOut = new Map<string, string>();

/** A pattern whose classes name no properties of characters (`\p{C}`), which few languages know: they list them. */
const portable = (pattern: string): string =>
  pattern.replaceAll(/\[\^?((?:[^\]\\]|\\.)*\\p\{(?:[^\]\\]|\\.)*)\]/gi, (written) => {
    if (!spelledOut.has(written)) spelledOut.set(written, listed(written));
    return spelledOut.get(written)!;
  });

/** A class with its characters listed, or those that are not in it: the fewer, since tools go through them one by one. */
function listed(written: string): string {
  const all = everyCharacter();
  const inside = Array.from(all.matchAll(new RegExp(`${written}+`, 'gu')), ([run]) => run);
  if (inside.join('').length < all.length / 2) return `[${inside.map(rangeOf).join('')}]`;
  return `[^${all
    .split(new RegExp(`${written}+`, 'u'))
    .map(rangeOf)
    .join('')}]`;
}

function rangeOf(run: string): string {
  const [first, pair] = [run.codePointAt(0), run.slice(-2).codePointAt(0)!];
  if (first === undefined) return '';
  const last = pair > 0xffff ? pair : run.charCodeAt(run.length - 1);
  return spell(first) + (last > first ? `-${spell(last)}` : '');
}

/** All of Unicode in order, but for surrogates, which have no place in JSON. */
function everyCharacter(): string {
  const units = new Uint16Array(0x10000 - 0x800 + 2 * 0x100000);
  let at = 0;
  for (let code = 0; code < 0x10000; code += 1) if (code < 0xd800 || code > 0xdfff) units[at++] = code;
  for (let code = 0; code < 0x100000; code += 1) {
    units[at++] = 0xd800 | (code >> 10);
    units[at++] = 0xdc00 | (code & 0x3ff);
  }
  return Buffer.from(units.buffer).toString('utf16le');
}

const spell = (code: number): string =>
  code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : String.fromCodePoint(code);

/** `client_secret`, `client secret`, `users_sign_out` as the name of a type. */
export const typeName = (text: string): string =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_all, first: string) => first.toUpperCase());

/** The named schemas, in the order in which they were asked for. */
export class Schemas {
  readonly #byName = new Map<string, Json>();
  readonly #texts = new Map<string, string>();
  readonly #given = new Map<string, Json>();

  /** Keeps a schema under this name. Returns a reference. @throws TypeError when another one has it */
  add(name: string, schema: Json): Json {
    if (this.#given.get(name) === schema) return refer(name);
    this.#given.set(name, schema);
    const text = JSON.stringify(schema);
    const whole = this.#partsOf(schema, name);
    const present = this.#texts.get(name);
    if (present !== undefined && present !== text) throw new TypeError(`two schemas are called ${name}`);
    this.#texts.set(name, text);
    this.#byName.set(name, whole);
    return refer(name);
  }

  /** As the document holds them. */
  all(): Record<string, Json> {
    return Object.fromEntries([...this.#byName].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  }

  /** The schema with references in place of the parts that have a name of their own. */
  #partsOf(schema: Json, owner: string): Json {
    const { properties, items, anyOf, ...rest } = schema;
    return {
      ...rest,
      ...(properties !== undefined && {
        properties: Object.fromEntries(
          Object.entries(properties as Record<string, Json>).map(([name, part]) => [
            name,
            this.#part(part, name, owner),
          ]),
        ),
      }),
      ...(items !== undefined && { items: this.#part(items as Json, 'item', owner) }),
      ...(anyOf !== undefined && { anyOf: (anyOf as Json[]).map((part) => this.#part(part, 'choice', owner)) }),
    };
  }

  #part(schema: Json, name: string, owner: string): Json {
    // What lists and choices are made of is called as they are.
    const { items, anyOf, ...outside } = schema;
    if (items !== undefined) return { ...outside, items: this.#part(items as Json, name, owner) };
    if (anyOf !== undefined)
      return { ...outside, anyOf: (anyOf as Json[]).map((part) => this.#part(part, name, owner)) };
    const { core, beside } = split(schema);
    if (core === undefined) return schema;
    const text = JSON.stringify(core);
    const [plain, owned] = [(core['title'] as string | undefined) ?? typeName(name), `${owner}${typeName(name)}`];
    // An object of the same members is the same type, wherever it is first met.
    const known = 'properties' in core ? [...this.#texts].find(([, other]) => other === text)?.[0] : undefined;
    const called = 'properties' in core ? [known ?? owned] : [plain, owned];
    const free = called.find((each) => (this.#texts.get(each) ?? text) === text);
    return free === undefined ? schema : { ...this.add(free, core), ...beside };
  }
}

const refer = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** Splits a schema: what gets a name of its own, and the annotations of this use. */
function split(schema: Json): { core?: Json; beside: Json } {
  const { description, default: without, minLength, maxLength, ...core } = schema;
  const place = Object.fromEntries(
    Object.entries({ description, default: without }).filter(([, value]) => value !== undefined),
  );
  const { enum: choices = [], properties = {}, format, title } = core as { enum?: unknown[]; properties?: Json } & Json;
  if (choices.length > 1 || Object.keys(properties).length > 0) return { core, beside: place };
  if (format !== 'date-time' && title === undefined) return { beside: schema };
  const lengths = Object.fromEntries(
    Object.entries({ minLength, maxLength }).filter(([, value]) => value !== undefined),
  );
  return { core: { title: 'DateTime', ...core }, beside: { ...place, ...lengths } };
}
