/** What is no HTTP at all, or too long or too slow for it: answered like any other refusal, on the bare connection. */
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { logProblem } from '../events/index.ts';
import type { Refusal } from '../events/refusals.ts';
import { invalidRequest, type Explanation } from '../protocol/error.ts';
import { newId } from '../protocol/handle.ts';
import { addressPrefix } from './network.ts';

type Needs = Pick<Deps, 'clock' | 'log' | 'random' | 'refusals' | 'metrics'>;

/** A refusal as it is kept, and the JSON that is answered. */
interface Refused {
  refusal: Refusal;
  type: 'application/json' | 'application/problem+json';
  body: unknown;
}

/** A door that refuses in a form of its own also what reaches none of its routes. */
export interface OwnForm {
  /** Is this address, as it came, the door's? */
  covers(address: string): boolean;
  /** Answers a request whose address cannot be read. */
  answerUnreadableAddress(request: FastifyRequest, reply: FastifyReply): void;
  /** Refuses what is no request at all. */
  refuseUnreadable(status: number, sentence: string, why: Explanation, request_id: string): Refused;
}

/** The form of every other door (RFC 6749 §5.2). */
function refuseAsOAuth(_status: number, sentence: string, why: Explanation): Refused {
  const refusal = invalidRequest(sentence, why);
  return { refusal, type: 'application/json', body: { error: refusal.error, error_description: sentence } };
}

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
  ({ clock, log, metrics, random, refusals }: Needs, own: OwnForm) =>
  (error: Error & { code?: string; rawPacket?: unknown }, socket: Socket): void => {
    const { code = 'unknown' } = error;
    if (code === 'ECONNRESET' || socket.destroyed) return;
    const [status, reason, sentence] = STATUS[code] ?? MALFORMED;
    const request_id = newId(random, 12);
    const ip = socket.remoteAddress ?? 'unknown';
    const why = { check: 'http', received: code } as const;
    const refuse = own.covers(addressIn(error.rawPacket)) ? own.refuseUnreadable : refuseAsOAuth;
    const { refusal, type, body } = refuse(status, sentence, why, request_id);
    logProblem({ log, metrics }, request_id, refusal);
    const where = { ip, network: addressPrefix(ip), request_id, method: 'unknown', route: 'unknown', status };
    refusals.note(refusal, where, clock());
    const text = JSON.stringify(body);
    const headers = [
      `HTTP/1.1 ${status} ${reason}`,
      `content-length: ${Buffer.byteLength(text)}`,
      `content-type: ${type}; charset=utf-8`,
      'cache-control: no-store',
      'x-content-type-options: nosniff',
      `x-request-id: ${request_id}`,
      'connection: close',
    ];
    if (socket.writable) socket.write(`${headers.join('\r\n')}\r\n\r\n${text}`);
    // Nobody waits for a peer that does not read.
    socket.destroy();
  };
