/** A mail server on loopback that takes what it is given, or refuses it as a test says. */
import { once } from 'node:events';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** One message as it arrived. */
export interface Received {
  from: string;
  to: string[];
  raw: string;
}

export interface TestMailServer {
  url: string;
  received: Received[];
  close(): Promise<void>;
}

/** Listens on a port of its own. `refuse` may answer a recipient with an SMTP error. */
export async function testMailServer(
  refuse: (recipient: string) => { code: number; message: string } | undefined = () => undefined,
  options: SMTPServerOptions = {},
): Promise<TestMailServer> {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    ...options,
    onRcptTo({ address }, _session, callback) {
      const refusal = refuse(address);
      if (!refusal) return callback();
      return callback(Object.assign(new Error(refusal.message), { responseCode: refusal.code }));
    },
    onData(stream, session, callback) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(parts).toString(),
        });
        callback();
      });
    },
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as { port: number };
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    close: () => new Promise((done) => server.close(() => done())),
  };
}

/** The header of a message, unfolded; undefined when there is none of this name. */
export const headersOf = ({ raw }: Received, name: string): string[] =>
  raw
    .slice(0, raw.indexOf('\r\n\r\n'))
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    .map((line) => line.slice(name.length + 1).trim());
