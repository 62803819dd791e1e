import { sql, type Kysely } from 'kysely';

/**
 * The rest of the lists: each order, with each filter, is an index. The tables that every token is written to get none;
 * what is added is on tables that operators write to, or on rows that are rare there (notices that were given up).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index on clients (registered_by, created_at, client_id)`.execute(db);
  await sql`create index on clients (registered_by, client_id)`.execute(db);
  await sql`create index on clients (client_name, client_id)`.execute(db);
  await sql`create index on clients (client_id) where disabled_at is not null`.execute(db);

  // In place of the one without an order.
  await sql`create index client_secrets_of_client on client_secrets (client_id, created_at, secret_id)`.execute(db);
  await sql`drop index client_secrets_client_id_idx`.execute(db);

  await sql`create index on roles (name, created_at, role_id)`.execute(db);
  await sql`create index on roles (resource, name, role_id)`.execute(db);
  await sql`create index on roles (resource, role_id)`.execute(db);
  // `is null` is no equality to the planner: only a partial index has the order of those rows.
  for (const held of ['null', 'not null']) {
    await sql`create index on roles (created_at, role_id) where resource is ${sql.raw(held)}`.execute(db);
    await sql`create index on roles (name, role_id) where resource is ${sql.raw(held)}`.execute(db);
  }

  await sql`create index on scopes (for_people, name)`.execute(db);
  await sql`create index on scopes (for_machines, name)`.execute(db);
  await sql`create index on resources (client_id, resource)`.execute(db);

  for (const column of ['client_id', 'sub']) {
    await sql`
      create index on logout_notices (${sql.ref(column)}, notice_id) where dead_at is not null`.execute(db);
  }
}
