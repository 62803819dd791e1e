/** Kinds of columns, as Kysely sees them. */
import type { ColumnType } from 'kysely';

/** jsonb: read as a value, written as text (pg would write a JavaScript array as a Postgres one). */
export type Json<T> = ColumnType<T, string | (null extends T ? null : never), string | (null extends T ? null : never)>;
export type Nullable<T> = T | null;

/** Details as their column takes them; none are null, as servers of versions before leave it. */
export const detailsColumn = (details: readonly object[] | null | undefined): string | null =>
  details && details.length > 0 ? JSON.stringify(details) : null;
