/** What an operation of the account API is: the shape of each row of the table in operations.ts. */
import { z } from 'zod';
import { Problem } from '../../admin/index.ts';
import type { Deps } from '../../deps.ts';
import type { Requester } from '../../events/index.ts';
import type { Owner } from './owner.ts';

/** The names that a path has in braces. */
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** What is answered before it is JSON: moments are still such. */
type Told<T> = T extends string
  ? string extends T
    ? string | Date
    : T
  : T extends ReadonlyArray<infer Item>
    ? ReadonlyArray<Told<Item>>
    : T extends object
      ? { [Name in keyof T]: Told<T[Name]> }
      : T;

/** What every operation is given. */
export interface Call<Ids, Query, Body> {
  deps: Deps;
  /** Whose account it is. */
  owner: Owner;
  ids: Ids;
  query: Query;
  body: Body;
  by: Requester;
  now: Date;
}

/** What can be done, and who may. */
interface Row<Path extends string, Query, Body, Answer> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Under the base, with parameters in braces. */
  path: Path;
  /** What names it in generated code. */
  name: string;
  summary: string;
  /** Only by a sign-in that is not older than five minutes, like the page that does the same. */
  fresh?: boolean;
  /** Only for programs of the service itself: it decides who comes to the account, or has all that is kept of a person. */
  trusted?: boolean;
  query?: z.ZodType<Query>;
  body?: z.ZodType<Body>;
  /** Null where it answers nothing: 204. */
  answer: z.ZodType<Answer> | null;
  /** Answers what the page shows, or does what it does. @throws Problem */
  run(call: Call<Readonly<Record<NamesIn<Path>, string>>, Query, Body>): Promise<Told<Answer>>;
}

/** One of them as the door has it. */
export type Operation = Row<string, unknown, unknown, unknown>;

/** Checks a row against its own path and schemas. */
export const operation = <Path extends string, Answer = void, Query = undefined, Body = undefined>(
  row: Row<Path, Query, Body, Answer>,
): Operation => row;

/** A moment in JSON. */
export const moment = z.iso.datetime();

/** The answer that is a list. */
export const listOf = <Item extends z.ZodType>(item: Item) => z.strictObject({ items: z.array(item) });

/** Of a thing that is not there, or is somebody else's. */
export const gone = (what: string): Problem => new Problem('not-found', `there is no such ${what} of yours`);
