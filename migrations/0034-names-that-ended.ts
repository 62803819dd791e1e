import { sql, type Kysely } from 'kysely';

/**
 * Scopes and resources that were deleted. One that is made again under such a name is another: no token issued before
 * `since` is for it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table ended_names (
      kind text not null check (kind in ('scope', 'resource')),
      name text not null,
      since timestamptz not null,
      primary key (kind, name)
    )`.execute(db);
}
