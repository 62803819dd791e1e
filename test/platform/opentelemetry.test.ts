import { expect, test } from 'vitest';
import { describeStatement } from '../../src/platform/opentelemetry.ts';

test.each([
  ['select * from "clients" where "client_id" = $1', 'select clients'],
  ['insert into "audit_events" ("at") values ($1)', 'insert audit_events'],
  ['insert into t (a) values ($1) on conflict (a) do update set a = $2', 'insert t'],
  [
    'with claimed as (\n update authorization_codes set used_at = $1 returning *) select * from claimed',
    'update authorization_codes',
  ],
  [
    'delete from sessions where (a, b) in (select a, b from sessions limit 1 for update skip locked)',
    'delete sessions',
  ],
  ['select kid from signing_keys for update', 'select signing_keys'],
  ['select pg_advisory_xact_lock(1)', 'select'],
  ['with live as (select * from grants) select * from live', 'select grants'],
  ['commit', 'commit'],
])('a statement is named by what it does and to which table: %s', (sql, name) => {
  expect(describeStatement(sql).name).toBe(name);
});
