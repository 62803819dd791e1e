/** Recovery codes as a text file: those of the page that shows them, which nothing keeps. */
import type { FastifyReply } from 'fastify';
import { invalidRequest } from '../../protocol/error.ts';
import { hashOfCode, RECOVERY_CODES } from '../../users/factors/recovery-code.ts';
import type { Context } from './context.ts';

/** Sends them back as a file. @throws OAuthError for what are no codes */
export function codesFile({ deps }: Context, reply: FastifyReply, sent = ''): FastifyReply {
  const codes = sent.split(' ');
  if (codes.length > RECOVERY_CODES || !codes.every((code) => hashOfCode(code))) {
    throw invalidRequest('these are no recovery codes', { check: 'form' });
  }
  const { host } = new URL(deps.config.ISSUER);
  const lines = [`Recovery codes for ${host}`, 'Each of them works once.', '', ...codes, ''];
  return reply
    .header('content-type', 'text/plain; charset=utf-8')
    .header('content-disposition', 'attachment; filename="recovery-codes.txt"')
    .send(lines.join('\r\n'));
}
