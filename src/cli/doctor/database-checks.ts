/** What `doctor` looks at in Postgres and on the way there. */
import { isLoopbackHost } from '../../protocol/redirect-uri.ts';
import { durabilityOf } from '../../store/postgres/durability.ts';
import { NOTICED_WITHIN } from '../../store/postgres/noticed.ts';
import { FORGETFUL, poolerOf } from '../../store/postgres/pooler.ts';
import { rightsOf } from '../../store/postgres/server-role.ts';
import type { Opened } from '../command.ts';
import { error, ok, or, warning, type Finding } from './finding.ts';

const MORE = 'see docs/production.md';

export const databaseChecks = {
  async durability({ deps: { db, config } }: Opened): Promise<Finding[]> {
    const found = await durabilityOf(db);
    const findings: Finding[] = [];
    if (found.standby) return [error('this Postgres is a standby', 'name the primary in DATABASE_URL, or all hosts')];
    if (found.read_only) return [error('it cannot be written to', 'see why its default_transaction_read_only is on')];
    const isLocal = isLoopbackHost(new URL(config.ISSUER).hostname);
    const off = [!found.fsync && 'fsync', found.synchronous_commit === 'off' && 'synchronous_commit'].filter(Boolean);
    for (const name of off) {
      const message = `${name} is off: a crash takes back what was answered, and codes and tokens that were used can be used again`;
      findings.push((isLocal ? warning : error)(message, `alter system set ${name} = on; select pg_reload_conf()`));
    }
    if (found.standbys > 0 && found.synchronous_standby_names === '') {
      const message = `${found.standbys} standbys receive commits after they were answered: a failover can bring back codes and tokens that were used`;
      findings.push(warning(message, `set synchronous_standby_names; ${MORE}, "Replicas"`));
    }
    const names = found.synchronous_standby_names;
    return or(findings, names === '' ? 'what was answered is on disk' : `what was answered is also at ${names}`);
  },

  async role({ deps: { db, config } }: Opened): Promise<Finding[]> {
    const { role, superuser, schema, audit } = await rightsOf(db);
    if (!schema && !audit) return [ok(`${role} reads and writes rows, and only adds to the audit log`)];
    const message = superuser
      ? `${role} is a superuser`
      : `${role} may change the schema, and the audit log: it owns the tables`;
    if (!superuser || isLoopbackHost(new URL(config.ISSUER).hostname)) return [ok(message)];
    return [warning(message, `give the server a role of its own: ${MORE}, "Two roles"`)];
  },

  async pooler({ deps: { db } }: Opened): Promise<Finding[]> {
    const pooler = await poolerOf(db);
    if (pooler === 'forgetful') return [error(FORGETFUL, `${MORE}, "Poolers"`)];
    if (pooler === 'none') return [ok('there is none')];
    if (pooler === 'session') return [ok('it runs in session mode')];
    const message = `it runs in transaction mode: changes are noticed after ${NOTICED_WITHIN.clients} seconds, and limits of statements may not hold`;
    return [warning(message, `run it in session mode, or ${MORE}, "Poolers"`)];
  },
};
