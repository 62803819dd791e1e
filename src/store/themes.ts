/** Themes: the name, the colours, the logo and the links of pages, for the server and for the pages of one client. */
import { sql, type Selectable } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';

/** Each row is a theme: of the server, where `client_id` is null, or of a client's pages. */
export interface ThemesTable {
  client_id: Nullable<string>;
  name: Nullable<string>;
  color: Nullable<string>;
  color_dark: Nullable<string>;
  policy_uri: Nullable<string>;
  tos_uri: Nullable<string>;
  logo_hash: Nullable<string>;
  logo_media_type: Nullable<string>;
  logo: Nullable<Buffer>;
}

export type ThemeRow = Selectable<ThemesTable>;

/** A theme without the bytes of its logo, which pages name by its hash. */
export type Theme = Omit<ThemeRow, 'logo' | 'logo_media_type'>;

/** Every theme. */
export const all = (db: Db): Promise<Theme[]> =>
  db
    .selectFrom('themes')
    .select(['client_id', 'name', 'color', 'color_dark', 'policy_uri', 'tos_uri', 'logo_hash'])
    .execute();

/** One, whole. */
export const find = (db: Db | Trx, client_id: string | null): Promise<ThemeRow | undefined> =>
  db.selectFrom('themes').selectAll().where('client_id', 'is not distinct from', client_id).executeTakeFirst();

/** The same, held until the transaction ends. */
export const findLocked = (trx: Trx, client_id: string | null): Promise<ThemeRow | undefined> =>
  trx
    .selectFrom('themes')
    .selectAll()
    .where('client_id', 'is not distinct from', client_id)
    .forUpdate()
    .executeTakeFirst();

/** Writes one, or replaces it. */
export async function put(trx: Trx, theme: ThemeRow): Promise<void> {
  const { client_id: _, ...rest } = theme;
  await trx
    .insertInto('themes')
    .values(theme)
    .onConflict((conflict) => conflict.column('client_id').doUpdateSet(rest))
    .execute();
}

/** Removes one. False when there was none. */
export async function remove(trx: Trx, client_id: string | null): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('themes')
    .where('client_id', 'is not distinct from', client_id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** The logo of this name, if a theme shows it. */
export async function findLogo(db: Db, hash: string): Promise<{ media_type: string; image: Buffer } | undefined> {
  const { rows } = await sql<{ media_type: string; image: Buffer }>`
    select logo_media_type as media_type, logo as image from themes where logo_hash = ${hash} limit 1`.execute(db);
  return rows[0];
}
