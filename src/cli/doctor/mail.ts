/** What `doctor` looks at about mail. */
import { access } from 'node:fs/promises';
import { unreadableMails } from '../../mail/deliver.ts';
import { isMailShown } from '../../mail/outbox.ts';
import { secondsUntil } from '../../protocol/numeric-date.ts';
import { isLoopbackHost } from '../../protocol/redirect-uri.ts';
import { outstanding } from '../../store/mails.ts';
import type { Opened } from '../command.ts';
import { error, or, warning, type Finding } from './finding.ts';

/** Seconds that a mail may wait before somebody should know. */
const PATIENCE = 600;

export async function mailCheck({ deps }: Opened): Promise<Finding[]> {
  const { config, db, mailer, clock } = deps;
  const findings: Finding[] = [];
  if (!mailer && !isMailShown(config)) {
    const message =
      'SMTP_URL is not set: nobody gets mail, and registration, forgotten passwords and changes of address are off';
    findings.push(warning(message, 'set SMTP_URL and MAIL_FROM; see docs/mail.md'));
  }
  if (mailer) {
    const failed = await mailer.verify().then(
      () => undefined,
      (cause: unknown) => (cause as Error).message,
    );
    if (failed !== undefined)
      findings.push(
        error(
          `the mail server of SMTP_URL takes no mail from us: ${failed}`,
          'set SMTP_URL right, or see what is wrong there',
        ),
      );
  }
  const url = config.SMTP_URL === undefined ? undefined : new URL(config.SMTP_URL);
  if (url?.protocol === 'smtp:' && url.search === '' && !isLoopbackHost(url.hostname)) {
    const message = 'mail may go to the mail server in clear, and it holds links that sign people in';
    findings.push(warning(message, 'use smtps:// in SMTP_URL, or add ?requireTLS=true to it'));
  }
  if (config.MAIL_TEMPLATES !== undefined && !(await isThere(config.MAIL_TEMPLATES)))
    findings.push(
      warning(
        `MAIL_TEMPLATES is ${config.MAIL_TEMPLATES}, which cannot be read`,
        'name a directory that the server can read',
      ),
    );
  const { waiting, oldest, dead } = await outstanding(db);
  if (dead > 0)
    findings.push(
      warning(`${dead} could not be sent`, 'postern mail list --state dead, then: postern mail retry --all'),
    );
  const age = oldest ? secondsUntil(clock(), oldest) : 0;
  if (age > PATIENCE)
    findings.push(
      warning(
        `${waiting} wait, the first for ${Math.floor(age / 60)} minutes`,
        'start the server: it sends them; postern mail list says why it could not',
      ),
    );
  const unreadable = await unreadableMails(deps);
  if (unreadable > 0) {
    const fix =
      'append the key they were sealed under to SECRET_KEYS; if that is lost, they are given up when their turn comes';
    findings.push(error(`${unreadable} that wait cannot be opened with SECRET_KEYS`, fix));
  }
  return or(findings, mailer ? 'the mail server takes it' : 'it is in the log, and at /dev/mail');
}

const isThere = (directory: string): Promise<boolean> =>
  access(directory).then(
    () => true,
    () => false,
  );
