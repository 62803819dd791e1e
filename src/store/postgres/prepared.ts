/** Statements whose text never varies: each connection has Postgres parse and plan them once. */
import { hash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';

/** What a statement may be given. Values only, never a piece of SQL. */
export type Value = string | number | boolean | Date | Buffer | null | ReadonlyArray<string | number | Buffer>;

/** A statement, or a part of one, with its values. `Row` is what it answers. */
export class Prepared<out Row = unknown> {
  readonly template: Template;
  readonly values: readonly Value[];
  declare readonly answers: Row;
  constructor(template: Template, values: readonly Value[]) {
    this.template = template;
    this.values = values;
  }
  /** With $1, $2 … where its values go. */
  get text(): string {
    return this.template.text;
  }
  /** The name a connection knows it by: of its text, so that two versions of one statement are two. */
  get name(): string {
    return this.template.name;
  }
}

/** A condition without values that is one of few: each makes a statement of its own. It is never made of what was sent. */
export class Condition {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The text of a `prepared` literal with its parts filled in. */
interface Template {
  /** Tells it from every other. */
  id: number;
  text: string;
  name: string;
  /** The pieces of text around its values. */
  pieces: readonly string[];
  /** What its parameters make of the text, in their order, and whether any does. */
  parts: ReadonlyArray<string | number | undefined>;
  hasParts: boolean;
}

/** The template of a place, by the conditions and parts there. */
interface Place {
  byParts: Map<string, Template>;
  /** The one that was asked for last, which nearly always is the one that is asked for next. */
  last: Template | undefined;
}

const places = new WeakMap<TemplateStringsArray, Place>();

/**
 * Written like Kysely's sql`...`, from values, conditions, and parts that are themselves prepared. With other conditions or
 * parts it is another statement: there have to be few.
 * Columns are named: Postgres refuses a prepared `*` once a migration has added a column, and servers run on meanwhile.
 */
export function prepared<Row = never>(
  strings: TemplateStringsArray,
  ...parameters: ReadonlyArray<Value | Prepared | Condition>
): Prepared<Row> {
  let place = places.get(strings);
  if (place === undefined) places.set(strings, (place = { byParts: new Map(), last: undefined }));
  const template = place.last && isOf(place.last, parameters) ? place.last : find(place, strings, parameters);
  place.last = template;
  if (!template.hasParts) return new Prepared(template, parameters as readonly Value[]);
  const values: Value[] = [];
  for (const parameter of parameters) {
    if (parameter instanceof Prepared) for (const value of parameter.values) values.push(value);
    else if (!(parameter instanceof Condition)) values.push(parameter);
  }
  return new Prepared(template, values);
}

/** What a parameter makes of the text: nothing, where it is a value. */
const partOf = (parameter: Value | Prepared | Condition): string | number | undefined => {
  if (parameter instanceof Prepared) return parameter.template.id;
  return parameter instanceof Condition ? parameter.text : undefined;
};

function isOf({ parts }: Template, parameters: ReadonlyArray<Value | Prepared | Condition>): boolean {
  for (let n = 0; n < parameters.length; n += 1) if (partOf(parameters[n]!) !== parts[n]) return false;
  return true;
}

function find(
  { byParts }: Place,
  strings: TemplateStringsArray,
  parameters: ReadonlyArray<Value | Prepared | Condition>,
): Template {
  const key = JSON.stringify(parameters.map((parameter) => partOf(parameter) ?? null));
  let template = byParts.get(key);
  if (template === undefined) byParts.set(key, (template = compile(strings, parameters)));
  return template;
}

/** The same as a part of a statement that is Kysely's. */
export const asSql = <Type = unknown>({ template, values }: Prepared): RawBuilder<Type> =>
  sql.join(
    template.pieces.flatMap((piece, n) => (n === 0 ? sql.raw(piece) : [sql.val(values[n - 1]), sql.raw(piece)])),
    sql``,
  );

let compiled = 0;

function compile(strings: readonly string[], parameters: ReadonlyArray<Value | Prepared | Condition>): Template {
  const pieces = [strings[0]!];
  for (const [n, parameter] of parameters.entries()) {
    const [first, ...rest] = piecesOf(parameter);
    pieces.push(`${pieces.pop()}${first}`, ...rest);
    pieces.push(`${pieces.pop()}${strings[n + 1]}`);
  }
  const text = pieces.reduce((before, piece, n) => `${before}$${n}${piece}`);
  if (/(?:\bselect|\bdistinct|\breturning|[.,])\s*\*/i.test(text)) throw new Error(`name the columns of: ${text}`);
  const name = `p_${hash('sha256', text, 'base64url').slice(0, 22)}`;
  compiled += 1;
  const parts = parameters.map(partOf);
  return { id: compiled, text, name, pieces, parts, hasParts: parts.some((part) => part !== undefined) };
}

const VALUE: readonly string[] = ['', ''];

function piecesOf(parameter: Value | Prepared | Condition): readonly string[] {
  if (parameter instanceof Prepared) return parameter.template.pieces;
  return parameter instanceof Condition ? [parameter.text] : VALUE;
}
