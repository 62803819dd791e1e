import { sql, type Kysely } from 'kysely';

const SUBJECTS = 'clients users groups roles scopes resources grants sessions tokens keys audit settings'.split(' ');
const ADMIN = SUBJECTS.flatMap((subject) => [`${subject}:read`, `${subject}:write`]);

/** Power over the admin API is given by a member of its own: the names of its scopes may be those of somebody's API, too. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table clients add column may_administer boolean not null default false`.execute(db);
  // Who has it on purpose keeps it: a client of an operator's, for itself, with a scope that no other API says it knows.
  await sql`
    update clients set may_administer = true
    where registered_by = 'operator' and token_endpoint_auth_method <> 'none' and 'client_credentials' = any(grant_types)
      and exists (
        select from unnest(scope) as held (scope)
        where held.scope = any(${ADMIN}::text[])
          and not exists (select from resources r where held.scope = any(r.scope)))`.execute(db);
}
