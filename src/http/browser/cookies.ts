/** Our cookies: what they are called, how they are set, and reading them without trusting them. */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config.ts';

/** What each cookie is for, and how long a browser keeps it, in seconds; null is until the browser closes. */
type CookieName = 'session' | 'browser' | 'device' | 'language';

export interface Cookies {
  get(request: FastifyRequest, name: CookieName): string | undefined;
  set(reply: FastifyReply, name: CookieName, value: string, max_age?: number): void;
  clear(reply: FastifyReply, name: CookieName): void;
}

// Of the longest, with five people's entries.
const MAX_LENGTH = 512;

/**
 * `__Host-` on https: no other host can set or read them, and no path hides one behind another. Two servers on localhost
 * differ by port and two issuers on a host by path, which cookies do not tell apart: so their names do.
 */
export function createCookies({ ISSUER }: Pick<Config, 'ISSUER'>): Cookies {
  const { protocol, port, pathname } = new URL(ISSUER);
  const secure = protocol === 'https:';
  const path = pathname === '/' ? '' : `_${createHash('sha256').update(pathname).digest('hex').slice(0, 8)}`;
  const suffix = secure ? path : `_${port === '' ? '80' : port}${path}`;
  const nameOf = (name: CookieName): string => `${secure ? '__Host-' : ''}postern_${name}${suffix}`;
  const attributes = { path: '/', httpOnly: true, secure, sameSite: 'lax' } as const;
  return {
    get(request, name) {
      const value = request.cookies[nameOf(name)];
      return value === undefined || value === '' || value.length > MAX_LENGTH ? undefined : value;
    },
    set(reply, name, value, max_age) {
      reply.setCookie(nameOf(name), value, { ...attributes, ...(max_age !== undefined && { maxAge: max_age }) });
    },
    clear(reply, name) {
      reply.clearCookie(nameOf(name), attributes);
    },
  };
}
