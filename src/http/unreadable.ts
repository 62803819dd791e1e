/** What is no HTTP at all, or too long or too slow for it: answered like any other refusal, on the bare connection. */
import type { Socket } from 'node:net';
import { Problem } from '../admin/index.ts';
import type { Deps } from '../deps.ts';
import { logProblem } from '../events/index.ts';
import { invalidRequest } from '../protocol/error.ts';
import { newId } from '../store/handle.ts';
import { isBelow } from './admin/elsewhere.ts';
import { refusalOf } from './admin/problem.ts';
import { addressPrefix } from './network.ts';

type Needs = Pick<Deps, 'clock' | 'config' | 'log' | 'random' | 'refusals' | 'metrics'>;

/** By Node's codes: RFC 6585 §5, RFC 9110 §15.5.9. */
const STATUS: Record<string, readonly [status: number, reason: string, sentence: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'the headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'the request took too long to arrive'],
};
const MALFORMED = [400, 'Bad Request', 'this is not HTTP'] as const;

/** The address in the packet that could not be read, or its beginning; of a request that came in pieces the last has none. */
const addressIn = (packet: unknown): string =>
  (Buffer.isBuffer(packet) && /^[A-Z]+ (\S{1,1000})/.exec(packet.toString('latin1', 0, 1100))?.[1]) || '';

/** For `clientErrorHandler`. Of a connection that is gone nothing is said. */
export const answerUnreadable =
  ({ clock, config, log, metrics, random, refusals }: Needs) =>
  (error: Error & { code?: string; rawPacket?: unknown }, socket: Socket): void => {
    const { code = 'unknown' } = error;
    if (code === 'ECONNRESET' || socket.destroyed) return;
    const [status, reason, sentence] = STATUS[code] ?? MALFORMED;
    const request_id = newId(random, 12);
    const ip = socket.remoteAddress ?? 'unknown';
    const why = { check: 'http', received: code } as const;
    const below = isBelow({ config }, { raw: { url: addressIn(error.rawPacket) } });
    const problem = below ? new Problem(status === 431 ? 'headers-too-large' : 'invalid', sentence, why) : undefined;
    const refusal = problem ? refusalOf(problem) : invalidRequest(sentence, why);
    logProblem({ log, metrics }, request_id, refusal);
    const where = { ip, network: addressPrefix(ip), request_id, method: 'unknown', route: 'unknown', status };
    refusals.note(refusal, where, clock());
    const body = JSON.stringify(
      problem ? problem.document(request_id) : { error: refusal.error, error_description: sentence },
    );
    const headers = [
      `HTTP/1.1 ${status} ${reason}`,
      `content-length: ${Buffer.byteLength(body)}`,
      `content-type: application/${problem ? 'problem+json' : 'json'}; charset=utf-8`,
      'cache-control: no-store',
      'x-content-type-options: nosniff',
      `x-request-id: ${request_id}`,
      'connection: close',
    ];
    if (socket.writable) socket.write(`${headers.join('\r\n')}\r\n\r\n${body}`);
    // Nobody waits for a peer that does not read.
    socket.destroy();
  };
