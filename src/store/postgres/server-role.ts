/**
 * The role of a server, where another one owns the tables: it reads and writes rows, and changes no schema. To the audit
 * log it only adds.
 */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import type { Db, Trx } from './db.ts';

/** The role of a server, and the audit retention that is fixed for it. */
export interface ServerRole {
  name: string;
  /** For one that is made; undefined: it proves itself otherwise. */
  password: string | undefined;
  salt: Buffer;
  /** Seconds that events stay in the audit log, whatever the server wants; 0 is for ever. */
  audit_kept: number;
}

/** The role cannot be limited, because it owns the tables (or everything). */
export class OwnsTables extends Error {}

/** Makes the role if there is none, and gives it what a server needs and nothing else. Again after each migration. */
export async function grantServerRights(db: Db, role: ServerRole): Promise<void> {
  const { name, password, salt, audit_kept } = role;
  const id = sql.id(name);
  await db.transaction().execute(async (trx) => {
    const { schema, database, exists, owns } = await found(trx, name);
    if (owns)
      throw new OwnsTables(`the role ${name} may do everything with these tables: the server needs another one`);
    if (!exists) {
      // A verifier: the password itself would be in Postgres' log where that keeps statements.
      const proof = password === undefined ? sql`` : sql` password ${sql.lit(verifier(password, salt))}`;
      await sql`create role ${id} login${proof}`.execute(trx);
    }
    await sql`grant connect on database ${sql.id(database)} to ${id}`.execute(trx);
    await sql`grant usage on schema ${sql.id(schema)} to ${id}`.execute(trx);
    const [tables, functions] = [await oursIn(trx, 'tables'), await oursIn(trx, 'functions')];
    await sql`grant select, insert, update, delete on ${tables} to ${id}`.execute(trx);
    await sql`grant execute on function ${functions} to ${id}`.execute(trx);
    await sql`revoke update, delete on audit_events from ${id}`.execute(trx);
    await sql`revoke insert, update, delete on kysely_migration, kysely_migration_lock from ${id}`.execute(trx);
    const kept = audit_kept === 0 ? '1000 years' : `${audit_kept} seconds`;
    await sql`
      create or replace function audit_kept() returns interval language sql immutable
      as ${sql.lit(`select interval '${kept}'`)}`.execute(trx);
  });
}

interface Found {
  schema: string;
  database: string;
  exists: boolean;
  /** It owns tables, or whatever it likes. */
  owns: boolean;
}

async function found(trx: Trx, name: string): Promise<Found> {
  const { rows } = await sql<Found>`
    select current_schema() as schema, current_database() as database,
      exists (select from pg_roles where rolname = ${name}) as exists,
      ${name} = current_user
        or exists (select from pg_roles where rolname = ${name} and rolsuper)
        or exists (select from pg_class c join pg_roles r on r.oid = c.relowner
          where r.rolname = ${name} and c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace) as owns
    `.execute(trx);
  return rows[0]!;
}

/** What the schema holds of ours: others may keep things there, too. */
async function oursIn(trx: Trx, what: 'tables' | 'functions'): Promise<RawBuilder<unknown>> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where ${what} = 'tables' and relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
      and pg_has_role(relowner, 'usage')
    union all
    select proname from pg_proc
    where ${what} = 'functions' and pronamespace = current_schema()::regnamespace and pg_has_role(proowner, 'usage')
      and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')`.execute(trx);
  return sql.join(rows.map(({ name }) => sql.id(name)));
}

/** What a role may do with what it works on. */
export interface Rights {
  role: string;
  /** Everything, everywhere. */
  superuser: boolean;
  /** Change tables, or make some. */
  schema: boolean;
  /** Change or delete what the audit log says. */
  audit: boolean;
}

/** Of the role that asks. */
export async function rightsOf(db: Db): Promise<Rights> {
  const { rows } = await sql<Rights>`
    select current_user as role, r.rolsuper as superuser,
      has_schema_privilege(current_schema(), 'create') or exists (
        select from pg_class c where c.relnamespace = current_schema()::regnamespace
          and c.relkind in ('r', 'p') and pg_has_role(c.relowner, 'usage')) as schema,
      has_table_privilege('audit_events', 'update') or has_table_privilege('audit_events', 'delete') as audit
    from pg_roles r where r.rolname = current_user`.execute(db);
  return rows[0]!;
}

const ITERATIONS = 4096;

/** As Postgres keeps it (RFC 5803, SCRAM-SHA-256). */
function verifier(password: string, salt: Buffer): string {
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, 32, 'sha256');
  const keyed = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${keyed('Server Key').toString('base64')}`;
}
