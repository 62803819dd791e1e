/** What `doctor` looks at about imports of people. */
import { secondsUntil } from '../../protocol/numeric-date.ts';
import { stateOfImports } from '../../users/import/jobs.ts';
import type { Opened } from '../command.ts';
import { error, or, warning, type Finding } from './finding.ts';

/** Seconds that an import may wait before somebody should know. */
const PATIENCE = 900;

export async function importsCheck({ deps }: Opened): Promise<Finding[]> {
  const { oldest, lost, failed } = await stateOfImports(deps);
  const findings: Finding[] = [];
  if (lost > 0) {
    const fix = 'append the key they were sealed under to SECRET_KEYS; if that is lost, import the people again';
    findings.push(error(`${lost} that wait cannot be opened with SECRET_KEYS`, fix));
  }
  const age = oldest ? secondsUntil(deps.clock(), oldest) : 0;
  if (age > PATIENCE)
    findings.push(
      warning(`the first waits for ${Math.floor(age / 60)} minutes`, 'start the server: it carries them out'),
    );
  if (failed > 0)
    findings.push(
      warning(`${failed} failed lately`, 'GET /admin/v1/user-imports?state=failed says why; send them again'),
    );
  return or(findings, 'none waits');
}
