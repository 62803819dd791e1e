import { sql, type Kysely } from 'kysely';

/** The tables, and the days that their narrowest partition covers. */
const TABLES = {
  access_tokens: 1,
  authorization_codes: 7,
  interactions: 1,
  pushed_requests: 1,
  refresh_tokens: 7,
  replays: 1,
};

/**
 * Partitions the short-lived tables by their expiry, so that what expired is dropped and not deleted. No row is copied: what
 * there is becomes a partition as it is. The servers make the partitions to come; until then rows lie in the default one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, days] of Object.entries(TABLES)) {
    const beyond = await endOf(db, table, days);
    // An empty table becomes the default partition itself.
    const child = beyond === undefined ? `${table}_default` : `${table}_before`;
    const { rows: indexes } = await sql<{ name: string; definition: string }>`
      select c.relname as name, pg_get_indexdef(c.oid) as definition
      from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = ${table}::regclass and not i.indisprimary order by c.relname`.execute(db);

    await sql`alter table ${sql.id(table)} rename to ${sql.id(child)}`.execute(db);
    for (const name of [`${table}_pkey`, ...indexes.map((index) => index.name)])
      await sql`alter index ${sql.id(name)} rename to ${sql.id(name.replace(table, child))}`.execute(db);
    await sql`
      create table ${sql.id(table)} (like ${sql.id(child)} including all excluding indexes,
        primary key (expires_bucket, hash))
      partition by range (expires_bucket)`.execute(db);
    for (const { definition } of indexes) await sql.raw(definition).execute(db);

    if (beyond === undefined) {
      await sql`alter table ${sql.id(table)} attach partition ${sql.id(child)} default`.execute(db);
      continue;
    }
    const rest = `${table}_default`;
    await sql`create table ${sql.id(rest)} partition of ${sql.id(table)} default`.execute(db);
    await sql`
      with moved as (delete from ${sql.id(child)} where expires_bucket >= ${beyond} returning *)
      insert into ${sql.id(rest)} select * from moved`.execute(db);
    await sql`
      alter table ${sql.id(table)} attach partition ${sql.id(child)}
      for values from (minvalue) to (${sql.lit(beyond)})`.execute(db);
  }
}

/**
 * The day with which the partition of today's rows ends: beyond it lie few, those of clients whose tokens live longest, so
 * that the first new partition is not far. Undefined of an empty table.
 */
async function endOf(db: Kysely<unknown>, table: string, days: number): Promise<number | undefined> {
  const { rows } = await sql<{ bucket: number; rows: number; today: number }>`
    select expires_bucket as bucket, count(*)::float8 as rows, floor(extract(epoch from now()) / 86400)::int as today
    from ${sql.id(table)} group by 1 order by 1 desc`.execute(db);
  if (rows.length === 0) return undefined;
  const few = Math.max(1000, rows.reduce((sum, day) => sum + day.rows, 0) / 100);
  let left = 0;
  const last = rows.find((day) => (left += day.rows) > few)?.bucket ?? 0;
  const end = Math.max(last, rows[0]!.today) + 1;
  return Math.ceil(end / days) * days;
}
