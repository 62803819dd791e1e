/** Accounts that are connected with somebody at a provider. */
import { sql, type Selectable } from 'kysely';
import type { Nullable } from './postgres/columns.ts';
import type { Db, Trx } from './postgres/db.ts';

/** Each row is somebody at a provider, and whose account that is here. */
export interface UpstreamLinksTable {
  upstream: string;
  issuer: string;
  upstream_sub: string;
  sub: string;
  /** How they are known there: an address or a name, for the person to tell two apart. */
  name: Nullable<string>;
  sealed_tokens: Nullable<Buffer>;
  created_at: Date;
  used_at: Date;
}

export type UpstreamLink = Selectable<UpstreamLinksTable>;
/** Somebody at a provider. */
export type UpstreamLinkKey = Pick<UpstreamLink, 'upstream' | 'issuer' | 'upstream_sub'>;

/** Whose account somebody is connected with, and whether it may be used. */
export const findPerson = (
  db: Db,
  { upstream, issuer, upstream_sub }: UpstreamLinkKey,
): Promise<{ sub: string; username: string; disabled_at: Date | null } | undefined> =>
  db
    .selectFrom('upstream_links')
    .innerJoin('users', 'users.sub', 'upstream_links.sub')
    .select(['users.sub', 'users.username', 'users.disabled_at'])
    .where('upstream', '=', upstream)
    .where('issuer', '=', issuer)
    .where('upstream_sub', '=', upstream_sub)
    .executeTakeFirst();

/** Connects somebody with an account. False when they are connected already, with this account or another. */
export async function insert(trx: Trx, link: UpstreamLink): Promise<boolean> {
  const result = await trx
    .insertInto('upstream_links')
    .values(link)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Notes a sign-in: when, how they are known now, and the tokens where those are kept. */
export async function note(
  db: Db | Trx,
  { upstream, issuer, upstream_sub }: UpstreamLinkKey,
  seen: Pick<UpstreamLink, 'name' | 'sealed_tokens' | 'used_at'>,
): Promise<void> {
  await db
    .updateTable('upstream_links')
    .set(seen)
    .where('upstream', '=', upstream)
    .where('issuer', '=', issuer)
    .where('upstream_sub', '=', upstream_sub)
    .execute();
}

/** A connection as its person sees it. */
export type ShownLink = Pick<UpstreamLink, 'upstream' | 'upstream_sub' | 'name' | 'created_at' | 'used_at'> & {
  label: string;
  /** Can it be signed in with today? */
  works: boolean;
};

/** The connections of a person. */
export async function ofPerson(db: Db, sub: string): Promise<ShownLink[]> {
  const { rows } = await sql<ShownLink>`
    select l.upstream, l.upstream_sub, l.name, l.created_at, l.used_at, u.label,
      not u.disabled and u.issuer = l.issuer as works
    from upstream_links l join upstreams u using (upstream)
    where l.sub = ${sub} order by l.created_at, l.upstream, l.upstream_sub`.execute(db);
  return rows;
}

/** Takes a connection away. False when this person has none of it. */
export async function remove(
  trx: Trx,
  sub: string,
  { upstream, upstream_sub }: Pick<UpstreamLink, 'upstream' | 'upstream_sub'>,
): Promise<boolean> {
  const result = await trx
    .deleteFrom('upstream_links')
    .where('sub', '=', sub)
    .where('upstream', '=', upstream)
    .where('upstream_sub', '=', upstream_sub)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Takes all connections of a person away. Returns how many. */
export async function removeAllOf(trx: Trx, sub: string): Promise<number> {
  const result = await trx.deleteFrom('upstream_links').where('sub', '=', sub).executeTakeFirst();
  return Number(result.numDeletedRows);
}

/** Those with tokens, a batch after another: for sealing them anew. */
export const withTokens = (db: Db, after: UpstreamLinkKey | undefined, limit: number): Promise<UpstreamLink[]> => {
  let query = db.selectFrom('upstream_links').selectAll().where('sealed_tokens', 'is not', null);
  if (after) {
    query = query.where(
      sql<boolean>`(upstream, issuer, upstream_sub) > (${after.upstream}, ${after.issuer}, ${after.upstream_sub})`,
    );
  }
  return query.orderBy('upstream').orderBy('issuer').orderBy('upstream_sub').limit(limit).execute();
};

/** Puts another sealing of the same tokens in the place of this one, unless they were changed meanwhile. */
export async function reseal(db: Db, link: UpstreamLink, sealed_tokens: Buffer): Promise<void> {
  await db
    .updateTable('upstream_links')
    .set({ sealed_tokens })
    .where('upstream', '=', link.upstream)
    .where('issuer', '=', link.issuer)
    .where('upstream_sub', '=', link.upstream_sub)
    .where(sql<boolean>`sealed_tokens = ${link.sealed_tokens}`)
    .execute();
}

/** Forgets the tokens of everybody who is connected through a provider. */
export async function forgetTokens(trx: Trx, upstream: string): Promise<void> {
  await trx
    .updateTable('upstream_links')
    .set({ sealed_tokens: null })
    .where('upstream', '=', upstream)
    .where('sealed_tokens', 'is not', null)
    .execute();
}
