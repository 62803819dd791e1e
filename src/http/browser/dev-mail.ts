/** /dev/mail, in development only: the mails that were posted, so that nobody needs a mail server to follow a link. */
import type { FastifyInstance } from 'fastify';
import { openMail } from '../../mail/deliver.ts';
import type { Letter } from '../../mail/render.ts';
import { pages } from '../../protocol/endpoint.ts';
import { OAuthError } from '../../protocol/error.ts';
import * as mails from '../../store/mails.ts';
import { devMailPage } from '../../views/dev-mail.ts';
import { sendPage } from '../page.ts';
import { route } from '../request.ts';
import { urlOf, type Context } from './context.ts';

/** How many are shown. */
const SHOWN = 100;

export function devMail(app: FastifyInstance, context: Context): void {
  const { deps } = context;

  const read = async (): Promise<Array<{ mail: mails.Mail; letter: Letter }>> => {
    const latest = await mails.latest(deps.db, SHOWN);
    const opened = await Promise.all(latest.map(async (mail) => ({ mail, ...(await openMail(deps, mail)) })));
    return opened.filter((one) => 'letter' in one);
  };

  route(app, pages.dev_mail, {
    async GET(_request, reply) {
      const letters = (await read()).map(({ mail, letter }) => ({
        to: mail.recipient,
        at: mail.created_at.toISOString(),
        state: mail.state,
        subject: letter.subject,
        text: letter.text,
        links: letter.links,
        html_url: urlOf(context, `${pages.dev_mail}/${mail.mail_id}`),
      }));
      const json_url = urlOf(context, `${pages.dev_mail}.json`);
      return sendPage(context, reply, (frame) => devMailPage({ frame, letters, json_url }), {
        formAction: 'self',
        english: true,
      });
    },
  });
  route(app, `${pages.dev_mail}.json`, {
    async GET(_request, reply) {
      const letters = await read();
      return reply.send(
        letters.map(({ mail, letter }) => ({ to: mail.recipient, ...letter, at: mail.created_at.toISOString() })),
      );
    },
  });
  route(app, `${pages.dev_mail}/:mail_id`, {
    async GET(request, reply) {
      const mail = await mails.find(deps.db, (request.params as { mail_id: string }).mail_id);
      const opened = mail && (await openMail(deps, mail));
      if (!opened || !('letter' in opened))
        throw new OAuthError('not_found', 'there is no such mail', { check: 'address' });
      return (
        reply
          .header('content-type', 'text/html; charset=utf-8')
          // As a mailbox shows it: styles in attributes, and nothing that runs.
          .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-popups")
          .send(opened.letter.html)
      );
    },
  });
}
