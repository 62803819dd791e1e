/** Statements whose text never varies: each connection has Postgres parse and plan them once. */
import { hash } from 'node:crypto';

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

/** What a place in the source comes to, with the parts it is made of. */
interface Template {
  /** Tells it from every other. */
  id: number;
  text: string;
  name: string;
  /** The pieces of text around its values. */
  pieces: readonly string[];
  /** Has it parameters that are no values? */
  hasParts: boolean;
}

/** By place, and by the conditions and parts there. */
const templates = new WeakMap<TemplateStringsArray, Map<string, Template>>();

/**
 * Written like Kysely's sql`...`, from values, conditions, and parts that are themselves prepared. With other conditions or
 * parts it is another statement: there have to be few.
 * Columns are named: Postgres refuses a prepared `*` once a migration has added a column, and servers run on meanwhile.
 */
export function prepared<Row = never>(
  strings: TemplateStringsArray,
  ...parameters: ReadonlyArray<Value | Prepared | Condition>
): Prepared<Row> {
  let place = templates.get(strings);
  if (place === undefined) templates.set(strings, (place = new Map()));
  let variant = '';
  for (const parameter of parameters) {
    if (parameter instanceof Condition) variant += parameter.text;
    else if (parameter instanceof Prepared) variant += `#${parameter.template.id}`;
  }
  let template = place.get(variant);
  if (template === undefined) place.set(variant, (template = compile(strings, parameters)));
  if (!template.hasParts) return new Prepared(template, parameters as readonly Value[]);
  return new Prepared(template, parameters.flatMap(valuesOf));
}

function valuesOf(parameter: Value | Prepared | Condition): readonly Value[] {
  if (parameter instanceof Prepared) return parameter.values;
  return parameter instanceof Condition ? [] : [parameter];
}

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
  return { id: compiled, text, name, pieces, hasParts: parameters.some((parameter) => piecesOf(parameter) !== VALUE) };
}

const VALUE: readonly string[] = ['', ''];

function piecesOf(parameter: Value | Prepared | Condition): readonly string[] {
  if (parameter instanceof Prepared) return parameter.template.pieces;
  return parameter instanceof Condition ? [parameter.text] : VALUE;
}
