/** The operations as types, from the table of collections: what a call is named, what its path holds, what it answers. */
import type { z } from 'zod';
import type { IdsOf, Item } from './collection.ts';
import type { collections } from '../index.ts';

type Table = typeof collections;
type Any = Table[keyof Table];

/** The path of one: that of all of them where there is just one. */
type One<C extends Any> = [NonNullable<C['id']>] extends [never] ? C['path'] : `${C['path']}/{${NonNullable<C['id']>}}`;
type Shown<C extends Any> = z.output<C['item']>;

type Answered<A> = A extends { answer: z.ZodType<infer Answer> | null } ? Answer : never;
type Actions<C extends Any> = C extends { actions: infer A }
  ? {
      [Name in keyof A & string]: [
        `POST ${A[Name] extends { collection: true } ? C['path'] : One<C>}/${Name}`,
        Answered<A[Name]>,
      ];
    }[keyof A & string]
  : never;

/** Each operation: its name, `GET /clients/{client_id}`, and its answer. */
type Calls<C extends Any> = C extends Any
  ? | (C extends { list: object }
        ? [`GET ${C['path']}`, { items: Array<Shown<C>>; next_cursor: string | null }]
        : never)
    | (C extends { create: object } ? [`POST ${C['path']}`, Shown<C>] : never)
    | (C extends { find: object } ? [`GET ${One<C>}`, Shown<C>] : never)
    | (C extends { replace: object } ? [`PUT ${One<C>}`, Shown<C>] | [`PATCH ${One<C>}`, Shown<C>] : never)
    | (C extends { remove: object } ? [`DELETE ${One<C>}`, Item] : never)
    | Actions<C>
  : never;
type Each<Call extends [string, unknown]> = Call extends [infer Name extends string, infer Answer]
  ? { [N in Name]: [N, Answer] }[Name]
  : never;
type All = Each<Calls<Any>>;

/** The names of all operations. */
export type CallName = All[0];
/** The parameters of its path. */
export type CallIds<Name extends CallName> = IdsOf<Name>;
/** The answer of an operation. */
export type CallAnswer<Name extends CallName> = Extract<All, [Name, unknown]>[1];
/** The names of the operations that list. */
export type ListName = { [Call in All as Call[0]]: Call[1] extends { items: unknown[] } ? Call[0] : never }[CallName];
/** An item of such a list. */
export type Listed<Name extends ListName> = CallAnswer<Name> extends { items: Array<infer One> } ? One : never;
