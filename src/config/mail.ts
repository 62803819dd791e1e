/** The variables of mail. */
import { z } from 'zod';
import { mailboxOf } from '../protocol/mailbox.ts';

/** An SMTP server: `smtps://` speaks TLS from the start, `smtp://` begins it where the server has it, or always with `?requireTLS=true`. */
function smtpProblem(text: string): string | undefined {
  if (!/^smtps?:\/\//.test(text)) return 'must be an smtp:// or smtps:// URL';
  const url = URL.parse(text);
  if (!url || url.hostname === '' || !['', '/'].includes(url.pathname) || url.hash !== '')
    return 'must be a URL of a host, with user and password if need be: percent-encode what is special in them';
  return ['', '?requireTLS=true'].includes(url.search) ? undefined : 'must have no query other than ?requireTLS=true';
}

export const mail = {
  SMTP_URL: z
    .string()
    .superRefine((text, context) => {
      const message = smtpProblem(text);
      if (message !== undefined) context.addIssue({ code: 'custom', message, input: text });
    })
    .optional(),
  MAIL_FROM: z
    .string()
    .refine(
      (text) => mailboxOf(text) !== undefined,
      'must be an address, or a name and an address: Example <id@example.com>',
    )
    .optional(),
  MAIL_TEMPLATES: z
    .string()
    .regex(/^[^\n]+$/, 'must be the name of a directory')
    .optional(),
};
