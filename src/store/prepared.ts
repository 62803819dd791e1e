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

/** What a place in the source comes to. */
interface Template {
  text: string;
  name: string;
  /** The pieces of text around its values. */
  pieces: readonly string[];
  /** Which of its parameters are parts of a statement. */
  hasParts: boolean;
}

const templates = new WeakMap<TemplateStringsArray, Template>();

/**
 * Written like Kysely's sql`...`, from values and parts that are themselves prepared. A part has to be the same each time.
 * Columns are named: Postgres refuses a prepared `*` once a migration has added a column, and servers run on meanwhile.
 */
export function prepared<Row = never>(
  strings: TemplateStringsArray,
  ...parameters: ReadonlyArray<Value | Prepared>
): Prepared<Row> {
  let template = templates.get(strings);
  if (template === undefined) templates.set(strings, (template = compile(strings, parameters)));
  if (!template.hasParts) return new Prepared(template, parameters as readonly Value[]);
  return new Prepared(
    template,
    parameters.flatMap((parameter) => (parameter instanceof Prepared ? parameter.values : [parameter])),
  );
}

function compile(strings: readonly string[], parameters: ReadonlyArray<Value | Prepared>): Template {
  const pieces = [strings[0]!];
  for (const [n, parameter] of parameters.entries()) {
    const [first, ...rest] = parameter instanceof Prepared ? parameter.template.pieces : ['', ''];
    pieces.push(`${pieces.pop()}${first}`, ...rest);
    pieces.push(`${pieces.pop()}${strings[n + 1]}`);
  }
  const text = pieces.reduce((before, piece, n) => `${before}$${n}${piece}`);
  if (/(?:\bselect|\bdistinct|\breturning|[.,])\s*\*/i.test(text)) throw new Error(`name the columns of: ${text}`);
  const name = `p_${hash('sha256', text, 'base64url').slice(0, 22)}`;
  return { text, name, pieces, hasParts: parameters.some((parameter) => parameter instanceof Prepared) };
}
