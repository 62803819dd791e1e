/** The client authentication a request carries, taken from where RFC 6749 §2.3.1 puts it: the header or the body. */
import type { FastifyRequest } from 'fastify';
import type { PresentedCredentials } from '../../clients/auth-methods.ts';
import { clientId } from '../../protocol/client-metadata.ts';
import type { Parameters } from '../../protocol/parameters.ts';
import { formOf, textOf } from '../request.ts';

export const credentialsOf = (request: FastifyRequest, parameters: Parameters): PresentedCredentials => ({
  authorization: request.headers.authorization,
  client_id: textOf(parameters, 'client_id'),
  client_secret: textOf(parameters, 'client_secret'),
});

/** The client a request names, unproven: good for choosing CORS headers and nothing else. */
export function namedClient({ authorization = '', client_id }: PresentedCredentials): string | undefined {
  if (client_id !== undefined) return client_id;
  const basic = /^basic +(\S+)$/i.exec(authorization);
  return basic ? Buffer.from(basic[1]!, 'base64').toString('utf8').split(':')[0] : undefined;
}

/** The same of a request that was refused, readable or not, for the log: only what could be a client's name. */
export function namedIn(request: FastifyRequest): string | undefined {
  try {
    return clientId.safeParse(namedClient(credentialsOf(request, formOf(request)))).data;
  } catch {
    return undefined;
  }
}
