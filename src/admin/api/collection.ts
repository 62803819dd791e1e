/**
 * What operators keep, as collections: clients, users, the secrets of a client. Each is described once, by a value of this
 * shape in the table of admin/index.ts; the routes, their types, the OpenAPI document and the command line follow from it.
 */
import type { z } from 'zod';
import type { Deps } from '../../deps.ts';
import type { Actor } from '../../events/index.ts';
import type { ADMIN_SUBJECTS } from '../../protocol/admin-api.ts';
import type { Db, Trx } from '../../store/postgres/db.ts';
import type { Keyset } from '../../store/postgres/listing.ts';

/** What a scope of the admin API is about: `clients` gives `clients:read` and `clients:write`. */
export type Subject = (typeof ADMIN_SUBJECTS)[number];

/** The parameters of a path, decoded. */
export type Ids = Readonly<Record<string, string>>;

/** The names that a path has in braces. */
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
/** The parameters of just this path: `/clients/{client_id}/secrets` gives `client_id`. */
export type IdsOf<Path extends string> = Readonly<Record<NamesIn<Path>, string>>;

/** The context of every operation, besides the database. */
export interface Call {
  deps: Omit<Deps, 'db'>;
  by: Actor;
  now: Date;
  /** The scope of the caller's token; undefined on the database itself, where everything is allowed. */
  token_scope: readonly string[] | undefined;
}

/** The context of a read: outside of any transaction, or in that of the write it belongs to. */
export interface ReadCall extends Call {
  db: Db;
}

/** The context of a write, in the operation's transaction. */
export interface WriteCall extends Call {
  trx: Trx;
}

/** One of them, as answered: JSON values only. */
export type Item = Record<string, unknown>;

/** A page of a list, as the store reads it: the rows' items, and the values of the sort columns of each. */
export interface Page<Shown = Item> {
  items: Shown[];
  /** The sort columns of the last row, from which the next page goes on. */
  last: ReadonlyArray<string | number> | undefined;
  /** There are more. */
  more: boolean;
}

export interface List<Filters = Record<string, unknown>, Above = Ids, Shown = Item> {
  /** The parameters that narrow it, besides `limit`, `cursor`, `sort` and `count`. */
  filters: z.ZodObject;
  /** What it can be sorted by, each with its columns, which end in one that is unique. The first is the default. */
  sorts: Readonly<Record<string, readonly string[]>>;
  /** Newest first, unless asked for otherwise. */
  descending?: boolean;
  page(call: ReadCall, ids: Above, filters: Filters, keyset: Keyset): Promise<Page<Shown>>;
  /** Can it be exported whole, a line each (`Accept: application/x-ndjson`)? */
  exports?: boolean;
  /** How many there are, roughly, from the planner's statistics. */
  estimate?(call: ReadCall): Promise<number>;
}

/** Something that writes, and its slow work (hashing a password, fetching a document), which no transaction waits for. */
interface Prepared<Body, Made, Of> {
  body: z.ZodType<Body>;
  /** Before the transaction. `run` gets what it made, and must not trust that nothing changed meanwhile. */
  prepare?(call: ReadCall, ids: Of, body: Body): Promise<Made>;
}

/** POST that makes one. */
export interface Create<Body = unknown, Made = unknown, Above = Ids, Shown = Item> extends Prepared<Body, Made, Above> {
  summary?: string;
  run(call: WriteCall, ids: Above, body: Body, made: Made): Promise<Shown>;
  /** Members of the answer that are shown this once: no stored answer has them. */
  once?: readonly string[];
}

/** PUT, and PATCH, which is a PUT of what the patch makes. */
export interface Replace<Body = unknown, Made = unknown, One = Ids, Shown = Item> extends Prepared<Body, Made, One> {
  /** `present` is undefined only where `creates` is set. */
  run(call: WriteCall, ids: One, body: Body, made: Made, present: Shown | undefined): Promise<Shown>;
  /** PUT at a name that is free makes the thing. */
  creates?: boolean;
  /** What of an item a body may hold: the target of a merge patch. */
  writable(item: Shown): Item;
}

/** A verb that is none of the usual ones: POST at `<one>/<name>`, or `<all>/<name>` with `collection`. */
export interface Action<Body = unknown, Made = unknown, Of = Ids, Answer = Item> extends Prepared<Body, Made, Of> {
  summary: string;
  /** On all of them instead of on one. */
  collection?: boolean;
  answer: z.ZodType<Answer> | null;
  /** It changes nothing, so `<subject>:read` is enough. */
  reads?: boolean;
  once?: readonly string[];
  run(call: WriteCall, ids: Of, body: Body, made: Made): Promise<Answer | undefined>;
}

/** What a collection is, before what can be done with it. */
interface Description<Path extends string, Id extends string, Shown> {
  /** One of them, in words: `client`. */
  noun: string;
  summary: string;
  /** Under the base: `/clients`, or `/clients/{client_id}/secrets` for what belongs to another. */
  path: Path;
  /** The parameter that names one, and its column: `client_id`. Absent where there is just one, or no single ones. */
  id?: Id;
  subject: Subject;
  item: z.ZodType<Shown>;
}

/** What can be done with a collection, and with one of it. What is missing cannot be done. */
interface Abilities<Above, One, Shown> {
  /** One by its path, or undefined. */
  find?(call: ReadCall, ids: One): Promise<Shown | undefined>;
  /** The same, held until the transaction ends: where what is written depends on what is there. */
  findLocked?(call: WriteCall, ids: One): Promise<Shown | undefined>;
  list?: List<Record<string, unknown>, Above, Shown>;
  create?: Create<unknown, unknown, Above, Shown>;
  replace?: Replace<unknown, unknown, One, Shown>;
  /** False when there was none: DELETE is idempotent. */
  remove?(call: WriteCall, ids: One): Promise<boolean>;
  actions?: Readonly<Record<string, Action>>;
}

/** A collection as the engine has it: of any path, with any items. */
export type Collection = Description<string, string, Item> & Abilities<Ids, Ids, Item>;

/** What describes the parts of one collection: each is checked against its path, its item and its own schemas. */
interface Parts<Above, One, Shown> {
  list<Shape extends z.ZodRawShape>(
    list: { filters: z.ZodObject<Shape> } & List<Partial<z.infer<z.ZodObject<Shape>>>, Above, Shown>,
  ): List<Partial<z.infer<z.ZodObject<Shape>>>, Above, Shown>;
  create<Body, Made = undefined>(create: Create<Body, Made, Above, Shown>): Create<Body, Made, Above, Shown>;
  replace<Body, Made = undefined>(replace: Replace<Body, Made, One, Shown>): Replace<Body, Made, One, Shown>;
  /** On one of them. */
  action<Body, Answer extends Item = Item, Made = undefined>(
    action: Action<Body, Made, One, Answer>,
  ): Action<Body, Made, One, Answer>;
  /** On all of them. */
  actionOnAll<Body, Answer extends Item = Item, Made = undefined>(
    action: Action<Body, Made, Above, Answer>,
  ): Action<Body, Made, Above, Answer> & { collection: true };
}

/**
 * Describes a collection: first what it is, from which the types of its parameters and items follow, then what can be done
 * with it.
 */
export function collectionOf<const Path extends string, Shown extends Item, const Id extends string = never>(
  description: Description<Path, Id, Shown>,
) {
  type Above = IdsOf<Path>;
  type One = Readonly<Record<NamesIn<Path> | Id, string>>;
  const parts: Parts<Above, One, Shown> = {
    list: (list) => list,
    create: (create) => create,
    replace: (replace) => replace,
    action: (action) => action,
    actionOnAll: (action) => ({ ...action, collection: true }),
  };
  return {
    ...parts,
    with: <Can extends Abilities<Above, One, Shown>>(can: Can): Description<Path, Id, Shown> & Can => ({
      ...description,
      ...can,
    }),
  };
}
