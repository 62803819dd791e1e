/** Many of everything that operators list, besides people and what they granted: for lists at scale. */
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../src/store/postgres/db.ts';

/** How many of each. */
export interface Amounts {
  clients: number;
  groups: number;
  roles: number;
  members: number;
  scopes: number;
  resources: number;
  tokens: number;
  notices: number;
  events: number;
  refusals: number;
}

/** What belongs to one of them: so many each, for a list that has pages. */
const OF_ONE = 300;

/** Clients are `c1` and so on, groups `g1`, roles `r1`. The first of each has more than the others. */
export const FIRST = { client_id: 'c1', group_id: 'g1', role_id: 'r1', resource: 'https://r1.example.test' } as const;

/** Writes them, a second between each. `person` says in SQL who belongs to groups and holds roles: the nth of those there are. */
export async function many(db: Db, amounts: Amounts, person: RawBuilder<unknown>, now: Date): Promise<void> {
  const number = (value: number) => sql.raw(String(value));
  const series = (count: number) => sql`generate_series(1, ${number(count)}) n`;
  const at = sql`${now}::timestamptz - n * interval '1 second'`;
  const every = (nth: number) => sql`case when n % ${sql.raw(String(nth))} = 0 then ${now}::timestamptz end`;
  const client = sql.raw(`'c' || case when n % 100 = 0 then 1 else n % ${amounts.clients} + 1 end`);
  const statements: Record<string, ReturnType<typeof sql>> = {
    // One of ten registered itself: of one in three, to read all in order and pass over two is as cheap as an index of their own.
    clients: sql`
      insert into clients (client_id, client_name, contacts, application_type, token_endpoint_auth_method, redirect_uris,
        post_logout_redirect_uris, grant_types, scope, allowed_origins, id_token_signed_response_alg, require_pkce,
        skip_consent, may_introspect, registered_by, disabled_at, created_at, updated_at)
      select 'c' || n, 'Name ' || n % 100, '{}', 'web', 'none', '{}', '{}', '{}', '{}', '{}', 'RS256', true, false, false,
        case when n % 10 = 0 then 'self' else 'operator' end, ${every(50)}, ${at}, ${at}
      from ${series(amounts.clients)}`,
    client_secrets: sql`
      insert into client_secrets (secret_id, client_id, hash, created_at)
      select 's' || n, case when n <= ${number(OF_ONE)} then 'c1' else 'c' || n % ${number(amounts.clients)} + 1 end,
        '', ${at}
      from ${series(amounts.clients + OF_ONE)}`,
    groups: sql`
      insert into groups (group_id, name, created_at, updated_at)
      select 'g' || n, 'group' || n, ${at}, ${at} from ${series(amounts.groups)}`,
    group_members: sql`
      insert into group_members (group_id, sub, created_at)
      select case when n % 4 = 0 then 'g1' else 'g' || n * 7 % ${number(amounts.groups)} + 1 end, ${person}, ${at}
      from ${series(amounts.members)} on conflict do nothing`,
    scopes: sql`
      insert into scopes (name, claims, for_people, for_machines)
      select 'many:' || n, '{}', n % 3 = 0, n % 4 = 0 from ${series(amounts.scopes)}`,
    resources: sql`
      insert into resources (resource, client_id, scope)
      select 'https://r' || n || '.example.test', ${client}, '{}' from ${series(amounts.resources)}`,
    roles: sql`
      insert into roles (role_id, resource, name, created_at, updated_at)
      select 'r' || n, case when n % 3 = 0 then null when n % 20 = 2 then ${FIRST.resource}
        else 'https://r' || n % ${number(amounts.resources)} + 1 || '.example.test' end,
        case when n % 3 > 0 and n % 20 <> 2 then 'role' || n / ${number(amounts.resources)} else 'own' || n end, ${at}, ${at}
      from ${series(amounts.roles)}`,
    role_users: sql`
      insert into role_users (role_id, sub, created_at)
      select case when n % 4 = 0 then 'r1' else 'r' || n * 7 % ${number(amounts.roles)} + 1 end, ${person}, ${at}
      from ${series(amounts.members)} on conflict do nothing`,
    role_groups: sql`
      insert into role_groups (role_id, group_id, created_at)
      select 'r1', group_id, ${now}::timestamptz from groups`,
    initial_access_tokens: sql`
      insert into initial_access_tokens (token_id, hash, uses_left, created_at, expires_at)
      select 't' || n, ('t' || n)::bytea, 1, ${at}, ${now}::timestamptz + interval '1 day' from ${series(amounts.tokens)}`,
    logout_notices: sql`
      insert into logout_notices (client_id, sub, sid, next_at, dead_at, last_failure, created_at)
      select ${client}, ${person}, 'sid' || n, ${now}::timestamptz + interval '1 day', ${every(2)}, 'status_500', ${at}
      from ${series(amounts.notices)}`,
    mails: sql`
      insert into mails (expires_bucket, mail_id, template, recipient, sub, lang, state, next_at, until, created_at)
      select ${sql.raw(String(Math.floor(now.getTime() / 86_400_000) + 14))}, 'mail' || n, 'notice',
        'u' || n % 500 || '@example.test', ${person}, 'en',
        case when n % 40 = 0 then 'dead' when n % 30 = 0 then 'waiting' else 'sent' end, ${at}, ${at}, ${at}
      from ${series(amounts.notices)}`,
    audit_events: sql`
      insert into audit_events (at, event, sub, client_id, actor, ip, request_id, detail)
      select ${now}::timestamptz - (${number(amounts.events)} - n) * interval '1 second',
        case when n % 5 = 0 then 'event0' else 'event' || n % 30 end, ${person}, ${client}, 'actor' || n % 50,
        '192.0.2.' || n % 200, 'request' || n / 3, '{}'
      from ${series(amounts.events)}`,
    refusals: sql`
      insert into refusals (expires_bucket, at, request_id, client_id, sub, network)
      select ${sql.raw(String(Math.floor(now.getTime() / 86_400_000) + 7))}, ${at}, 'request' || n, ${client}, ${person},
        '192.0.2.' || n % 200 from ${series(amounts.refusals)}`,
  };
  for (const [table, statement] of Object.entries(statements)) {
    await statement.execute(db);
    await sql`analyze ${sql.table(table)}`.execute(db);
  }
}
