/** Mail over SMTP, by nodemailer, which only this file knows. */

/** One mail, ready to be sent: every text that goes into a header is one line. */
interface OutgoingMail {
  /** Also how the mail server and the recipient recognise one that was handed over twice. */
  message_id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** Hands mail to a mail server. */
export interface Mailer {
  /** @throws MailFailure */
  send(mail: OutgoingMail): Promise<void>;
  /** Asks the mail server whether it would take mail from us. @throws MailFailure */
  verify(): Promise<void>;
}

/** Why a mail was not taken. */
class MailFailure extends Error {
  /** It is this mail that is not wanted, and will not be. */
  readonly permanent: boolean;
  /** It is about the way there, and so about every mail. */
  readonly unreachable: boolean;
  constructor(message: string, kind: { permanent: boolean; unreachable: boolean }) {
    super(message);
    this.name = 'MailFailure';
    this.permanent = kind.permanent;
    this.unreachable = kind.unreachable;
  }
}

/** Milliseconds that a server has for each answer; together less than what a worker has for a mail. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

/** A mailer for `smtp://user:password@host:port`, with mail from this mailbox. It connects when there is something to send. */
export function createMailer(smtp_url: string, from: { name: string; address: string } | undefined): Mailer {
  const url = new URL(smtp_url);
  const secure = url.protocol === 'smtps:';
  const options = {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: url.searchParams.get('requireTLS') === 'true',
    ...(url.username !== '' && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    ...TIMEOUTS,
    // Nothing of a mail is fetched from anywhere.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  // Loaded when there is something to send, so that commands do not wait for it.
  const transport = async () => (await import('nodemailer')).createTransport(options);

  return {
    async send({ message_id, to, subject, text, html }) {
      const one = await transport();
      try {
        await one.sendMail({
          ...(from && { from }),
          // As an object it is one address, whatever is in it.
          to: { name: '', address: to },
          subject,
          text,
          html,
          messageId: message_id,
          // RFC 3834 §5: nobody's holiday answers.
          headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        });
      } catch (error) {
        throw failureOf(error);
      } finally {
        one.close();
      }
    },
    async verify() {
      const one = await transport();
      try {
        await one.verify();
      } catch (error) {
        throw failureOf(error);
      } finally {
        one.close();
      }
    },
  };
}

function failureOf(error: unknown): MailFailure {
  const { code = '', responseCode, message } = error as { code?: string; responseCode?: number; message: string };
  // RFC 5321 §4.2.1: 5yz says that the same would be refused again. Where nobody was named yet it is about us.
  const isOfMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  const permanent = isOfMail && responseCode !== undefined && responseCode >= 500;
  return new MailFailure(message.slice(0, 300), { permanent, unreachable: !isOfMail });
}
