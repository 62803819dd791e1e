/**
 * The shape of what operators keep. A kind of thing is described once, by a value of this shape in the table of
 * admin/index.ts; the routes, the OpenAPI document and the command line follow from it.
 */
import type { z } from 'zod';
import type { Deps } from '../deps.ts';
import type { Actor } from '../events/index.ts';
import type { ADMIN_SUBJECTS } from '../protocol/admin-api.ts';
import type { Keyset } from '../store/listing.ts';

/** What a scope of the admin API is about: `clients` gives `clients:read` and `clients:write`. */
export type Subject = (typeof ADMIN_SUBJECTS)[number];

/** The parameters of the path, decoded. */
export type Ids = Readonly<Record<string, string>>;

/** What an operation works with. In one that writes, `deps.db` is its transaction. */
export interface Call {
  deps: Deps;
  by: Actor;
  now: Date;
  /** The scope of the caller's token; undefined on the database itself, where everything is allowed. */
  held: readonly string[] | undefined;
}

/** One of them, as answered: JSON values only. */
export type Item = Record<string, unknown>;

/** A page of a list, as the store reads it: the rows' items, and the values of the sort columns of each. */
export interface Page {
  items: Item[];
  /** The sort columns of the last row, from which the next page goes on. */
  last: ReadonlyArray<string | number> | undefined;
  /** There are more. */
  more: boolean;
}

export interface List<Filters = Record<string, unknown>> {
  /** The parameters that narrow it, besides `limit`, `cursor`, `sort` and `count`. */
  filters: z.ZodObject;
  /** What it can be sorted by, each with its columns, which end in one that is unique. The first is the default. */
  sorts: Readonly<Record<string, readonly string[]>>;
  /** Newest first, unless asked for otherwise. */
  descending?: boolean;
  page(call: Call, ids: Ids, filters: Filters, keyset: Keyset): Promise<Page>;
  /** It can be had whole, a line each: `Accept: application/x-ndjson`. */
  exports?: boolean;
  /** How many there are, roughly, from the planner's statistics. */
  estimate?(call: Call): Promise<number>;
}

/** Something that writes, and its slow work (hashing a password, fetching a document), which no transaction waits for. */
interface Prepared<Body, Made> {
  body: z.ZodType<Body>;
  /** Before the transaction. `run` gets what it made, and must not trust that nothing changed meanwhile. */
  prepare?(call: Call, ids: Ids, body: Body): Promise<Made>;
}

/** POST that makes one. */
export interface Create<Body = unknown, Made = undefined> extends Prepared<Body, Made> {
  summary?: string;
  run(call: Call, ids: Ids, body: Body, made: Made): Promise<Item>;
  /** Members of the answer that are shown this once: no stored answer has them. */
  once?: readonly string[];
}

/** PUT, and PATCH, which is a PUT of what the patch makes. */
export interface Replace<Body = unknown, Made = undefined> extends Prepared<Body, Made> {
  /** `present` is undefined only where `creates` is set. */
  run(call: Call, ids: Ids, body: Body, made: Made, present: Item | undefined): Promise<Item>;
  /** PUT at a name that is free makes the thing. */
  creates?: boolean;
  /** What of an item a body may hold: the target of a merge patch. */
  writable(item: Item): Item;
}

/** A verb that is none of the usual ones: POST at `<one>/<name>`, or `<all>/<name>` with `collection`. */
export interface Action<Body = unknown, Made = undefined> extends Prepared<Body, Made> {
  summary: string;
  /** On all of them instead of on one. */
  collection?: boolean;
  answer: z.ZodType | null;
  /** It changes nothing, so `<subject>:read` is enough. */
  reads?: boolean;
  once?: readonly string[];
  run(call: Call, ids: Ids, body: Body, made: Made): Promise<Item | undefined>;
}

/** A kind of thing. What it lacks cannot be done. */
export interface AdminResource {
  /** One of them, in words: `client`. */
  noun: string;
  summary: string;
  /** Under the base: `/clients`, or `/clients/{client_id}/secrets` for what belongs to another. */
  path: string;
  /** The parameter that names one, and its column: `client_id`. Absent where there is just one, or no single ones. */
  id?: string;
  subject: Subject;
  item: z.ZodType;
  /** One by its path, or undefined. With `lock`, held until the transaction ends. */
  find?(call: Call, ids: Ids, lock: boolean): Promise<Item | undefined>;
  list?: List;
  create?: Create<unknown, unknown>;
  replace?: Replace<unknown, unknown>;
  /** False when there was none: DELETE is idempotent. */
  remove?(call: Call, ids: Ids): Promise<boolean>;
  actions?: Readonly<Record<string, Action<unknown, unknown>>>;
}

/** A part of a row, its bodies' types checked against its schemas. */
export const replaceOf = <Body, Made = undefined>(replace: Replace<Body, Made>): Replace<Body, Made> => replace;
export const createOf = <Body, Made = undefined>(create: Create<Body, Made>): Create<Body, Made> => create;
export const actionOf = <Body, Made = undefined>(action: Action<Body, Made>): Action<Body, Made> => action;
export const listOf = <Shape extends z.ZodRawShape>(
  list: { filters: z.ZodObject<Shape> } & List<Partial<z.infer<z.ZodObject<Shape>>>>,
): List<Partial<z.infer<z.ZodObject<Shape>>>> => list;
