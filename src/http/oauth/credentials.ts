/** The client that a request names, before anything is proven. */
import type { FastifyRequest } from 'fastify';
import type { PresentedCredentials } from '../../clients/auth-methods/method.ts';
import { clientId } from '../../protocol/client.ts';
import { claimedSubject } from '../../protocol/jwt-assertion.ts';
import { textOf } from '../../protocol/parameters.ts';
import { readUtf8 } from '../../protocol/plain-text.ts';
import { formOf } from '../request.ts';

/** Its name, wherever its method of authentication puts it: good for choosing CORS headers and nothing else. */
export function namedClient({
  headers,
  parameters,
}: Pick<PresentedCredentials, 'headers' | 'parameters'>): string | undefined {
  const { authorization = '' } = headers;
  const client_id = textOf(parameters, 'client_id');
  if (client_id !== undefined) return client_id;
  const client_assertion = textOf(parameters, 'client_assertion');
  if (client_assertion !== undefined) return claimedSubject(client_assertion);
  const basic = /^basic +(\S+)$/i.exec(authorization);
  return basic ? readUtf8(Buffer.from(basic[1]!, 'base64'))?.split(':')[0] : undefined;
}

/** The same of a request that was refused, readable or not, for the log: only what could be a client's name. */
export function namedIn(request: FastifyRequest): string | undefined {
  try {
    return clientId.safeParse(namedClient({ headers: request.headers, parameters: formOf(request) })).data;
  } catch {
    return undefined;
  }
}
