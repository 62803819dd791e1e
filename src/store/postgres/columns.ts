/** Kinds of columns, as Kysely sees them. */
import type { ColumnType } from 'kysely';

/** jsonb: read as a value, written as text (pg would write a JavaScript array as a Postgres one). */
export type Json<T> = ColumnType<T, string | (null extends T ? null : never), string | (null extends T ? null : never)>;
export type Nullable<T> = T | null;
