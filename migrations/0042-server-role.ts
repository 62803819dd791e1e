import { sql, type Kysely } from 'kysely';

const PARTITIONED = `'access_tokens', 'authorization_codes', 'interactions', 'pushed_requests', 'refresh_tokens', 'replays'`;

/**
 * What a server does that its role may have no right to, where another one owns the tables: partitions come and go, and
 * the audit log forgets what is old. Nothing else can be done with these.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  // A temporary table of the caller's must not pass for one of these.
  const options = sql`language plpgsql security definer set search_path = ${sql.id(rows[0]!.schema)}, pg_temp`;

  await sql`
    create function make_partition(parent text, child text, first int, past int) returns void ${options} as $$
    begin
      if parent not in (${sql.raw(PARTITIONED)}) or child not like parent || '\\_%' or past <= first then
        raise exception 'no partition of ours' using errcode = 'invalid_parameter_value';
      end if;
      execute format('create table %I (like %I including all)', child, parent);
      execute format(
        'with moved as (delete from %I where expires_bucket >= $1 and expires_bucket < $2 returning *)
         insert into %I select * from moved', parent || '_default', child) using first, past;
      execute format('alter table %I attach partition %I for values from (%s) to (%s)', parent, child, first, past);
    end $$`.execute(db);

  await sql`
    create function drop_partition(child text) returns void ${options} as $$
    begin
      perform from pg_inherits i join pg_class p on p.oid = i.inhparent
        where i.inhrelid = to_regclass(quote_ident(child)) and p.relname in (${sql.raw(PARTITIONED)})
          and child <> p.relname || '_default';
      if found then
        execute format('drop table if exists %I', child);
      end if;
    end $$`.execute(db);

  // Whoever owns the tables may say how long events are kept whatever a server wants: see store/postgres/server-role.ts.
  await sql`
    create function audit_kept() returns interval language sql immutable as $$ select interval '-1000 years' $$`.execute(
    db,
  );
  await sql`
    create function forget_audit_events(before timestamptz, most int) returns int ${options} as $$
    declare gone int;
    begin
      delete from audit_events where event_id in (
        select event_id from audit_events where at < least(before, now() - audit_kept())
        order by at, event_id limit most for update skip locked);
      get diagnostics gone = row_count;
      return gone;
    end $$`.execute(db);

  for (const name of [
    'make_partition(text, text, int, int)',
    'drop_partition(text)',
    'forget_audit_events(timestamptz, int)',
  ])
    await sql`revoke all on function ${sql.raw(name)} from public`.execute(db);
}
