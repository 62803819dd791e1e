/** The client authentication a request carries, taken from where RFC 6749 §2.3.1 puts it: the header or the body. */
import type { FastifyRequest } from 'fastify';
import type { PresentedCredentials } from '../../clients/auth-methods/method.ts';
import { clientId } from '../../protocol/client-metadata.ts';
import { claimedSubject } from '../../protocol/jwt-assertion.ts';
import type { Parameters } from '../../protocol/parameters.ts';
import { readUtf8 } from '../../protocol/plain-text.ts';
import { formOf, textOf } from '../request.ts';

export const credentialsOf = (request: FastifyRequest, parameters: Parameters): PresentedCredentials => ({
  authorization: request.headers.authorization,
  client_id: textOf(parameters, 'client_id'),
  client_secret: textOf(parameters, 'client_secret'),
  client_assertion: textOf(parameters, 'client_assertion'),
  client_assertion_type: textOf(parameters, 'client_assertion_type'),
});

/** The client a request names, unproven: good for choosing CORS headers and nothing else. */
export function namedClient(presented: PresentedCredentials): string | undefined {
  const { authorization = '', client_id, client_assertion } = presented;
  if (client_id !== undefined) return client_id;
  if (client_assertion !== undefined) return claimedSubject(client_assertion);
  const basic = /^basic +(\S+)$/i.exec(authorization);
  return basic ? readUtf8(Buffer.from(basic[1]!, 'base64'))?.split(':')[0] : undefined;
}

/** The same of a request that was refused, readable or not, for the log: only what could be a client's name. */
export function namedIn(request: FastifyRequest): string | undefined {
  try {
    return clientId.safeParse(namedClient(credentialsOf(request, formOf(request)))).data;
  } catch {
    return undefined;
  }
}
