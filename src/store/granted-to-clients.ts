/** What applications have of a person: the live grants of each, taken together. */
import { sql } from 'kysely';
import type { AuthorizationDetail } from '../protocol/authorization-details.ts';
import { isLive, NOT_REVOKED } from './grants.ts';
import type { Db } from './postgres/db.ts';
import { asSql } from './postgres/prepared.ts';

/** What one client has of a person: all of its live grants together. */
export interface GrantedToClient {
  client_id: string;
  client_name: string | null;
  scope: string[];
  resource: string[];
  offline: boolean;
  authorization_details: readonly AuthorizationDetail[];
  since: Date;
  last_used: Date;
}

/** The live grants of a person, by client. */
export async function byClient(db: Db, sub: string, now: Date): Promise<GrantedToClient[]> {
  const { rows } = await sql<GrantedToClient>`
    select g.client_id, (select client_name from clients c where c.client_id = g.client_id) as client_name,
      array(select distinct jsonb_array_elements_text(e) from unnest(array_agg(to_jsonb(g.scope))) e order by 1) as scope,
      array(select distinct jsonb_array_elements_text(e) from unnest(array_agg(to_jsonb(g.resource))) e order by 1)
        as resource,
      array(select distinct d from unnest(array_agg(g.authorization_details)) e, jsonb_array_elements(e) d limit 100)
        as authorization_details,
      bool_or(g.offline) as offline, min(g.created_at) as since, max(g.created_at) as last_used
    from grants g where g.sub = ${sub} and ${asSql(isLive(now, NOT_REVOKED))}
    group by g.client_id order by g.client_id limit 200`.execute(db);
  return rows;
}
