/** A database as large as after years: what the lists of the admin API are measured on. */
import { sql } from 'kysely';
import { adminScopes, ADMIN_PATH } from '../../src/admin/index.ts';
import { register } from '../../src/clients/register.ts';
import { presets } from '../../src/protocol/client-metadata.ts';
import { FIRST, many } from '../../test/support/many.ts';
import { ballastOf, fill } from '../ballast.ts';
import type { Database } from '../database.ts';
import { basic, FORM, form } from '../scenario.ts';
import { BY, depsFor, people, send, type Client } from '../world.ts';

const AMOUNTS = {
  clients: 10_000,
  groups: 5000,
  roles: 5000,
  members: 200_000,
  scopes: 1000,
  resources: 5000,
  tokens: 5000,
  notices: 10_000,
  events: 100_000,
  refusals: 100_000,
};
/** Unless said otherwise. */
const REFRESH_TOKENS = 1_000_000;

/** Who has more of everything than others: the person whose sessions, grants and consents are listed. */
export const SUB = `B${'1'.padStart(21, '0')}`;

/** Fills a migrated database; returns how many rows each larger table has. */
export async function fillLists(
  database: Database,
  refresh_tokens: number,
  say: (line: string) => void,
): Promise<Record<string, number>> {
  const { db } = database;
  const { phc } = await people(database);
  const ballast = ballastOf(refresh_tokens || REFRESH_TOKENS);
  say(`${ballast.refresh_tokens} refresh tokens, ${ballast.grants} grants, ${ballast.users} people`);
  await fill(db, ballast, { phc, client_id: FIRST.client_id, say });
  const person = sql`case when n % 1000 = 0 then ${SUB}
    else 'B' || lpad((n % ${sql.lit(ballast.users)} + 1)::text, 21, '0') end`;
  await many(db, AMOUNTS, person, new Date());
  // People who came one after the other; half of what there is at one large client and the rest at all the others; a third
  // of it over.
  const changes = {
    users: sql`
      update users set created_at = created_at - right(sub, 6)::int * interval '1 second',
        disabled_at = case when right(sub, 2) = '50' then now() end where sub like 'B%'`,
    grants: sql`
      update grants set
        client_id = case when right(grant_id, 6)::int / 30 % 2 = 1
          then 'c' || right(grant_id, 6)::int % ${sql.lit(AMOUNTS.clients)} + 1 else client_id end,
        sub = case when right(grant_id, 3) = '077' then ${SUB} else sub end,
        created_at = created_at + right(grant_id, 6)::int * interval '1 millisecond',
        revoked_at = case when right(grant_id, 6)::int / 60 % 3 = 0 then now() end`,
    sessions: sql`
      update sessions set seen_at = now(), ended_at = case when substr(sid, 8)::int / 30 % 3 = 0 then now() end,
        sub = case when substr(sid, 8)::int % 500 = 0 then ${SUB} else sub end
      where sid like 'ballast%'`,
    consents: sql`
      insert into consents (sub, client_id, resource, scope, updated_at)
      select ${SUB}, client_id, 'https://api.example.test', '{}', now() from clients where client_id like 'c%' limit 500`,
  };
  await db.connection().execute(async (connection) => {
    for (const [table, change] of Object.entries(changes)) {
      say(`  ${table}, again`);
      await change.execute(connection);
    }
    await sql`vacuum (analyze)`.execute(connection);
    await sql`checkpoint`.execute(connection);
  });
  const { rows } = await sql<{ name: string; rows: number }>`
    select relname as name, reltuples::int as rows from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and reltuples >= 1000
    order by reltuples desc, relname`.execute(db);
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
}

/** A program that may do everything. */
export async function anOperator({ db }: Database): Promise<Client> {
  const metadata = { ...presets.m2m, client_name: 'Operator', scope: [...adminScopes.keys()].join(' ') };
  const made = await register(depsFor(db), { metadata }, BY, new Date());
  return { client_id: made.client_id, client_secret: made.client_secret! };
}

/** Its access token. */
export async function tokenOf(origin: string, operator: Client): Promise<string> {
  const answer = await send(origin, {
    method: 'POST',
    path: '/token',
    headers: { ...FORM, authorization: basic(operator) },
    body: form({ grant_type: 'client_credentials', resource: `${origin}${ADMIN_PATH}` }),
  });
  return String(answer['access_token']);
}
