/** Tokens: what any of them is, and the end of it. They are named by themselves, in a body, so that no log has them. */
import { z } from 'zod';
import { formatScope } from '../protocol/scope.ts';
import { FAULTS, inspect, type Fault, type Inspection } from '../tokens/inspect.ts';
import { endTarget, findTarget, type Target } from '../tokens/revoke.ts';
import { describeGrant, grantItem } from './grants.ts';
import { actionOf, type AdminResource, type Item } from './resource.ts';

const body = z.strictObject({ token: z.string().min(1).max(16_384) });
const time = z.iso.datetime();

const item = z.strictObject({
  active: z.boolean().describe('It would be accepted'),
  faults: z.array(z.enum(Object.keys(FAULTS) as [Fault, ...Fault[]])).describe(
    Object.entries(FAULTS)
      .map(([fault, meaning]) => `${fault}: ${meaning}`)
      .join('; '),
  ),
  kind: z.enum(['access_token', 'refresh_token']).optional(),
  format: z.enum(['jwt', 'opaque']).optional(),
  client_id: z.string().optional(),
  sub: z.string().optional(),
  scope: z.string().optional(),
  aud: z.array(z.string()).optional(),
  jti: z.string().optional(),
  sid: z.string().optional(),
  issued_at: time.optional(),
  expires_at: time.optional(),
  grant: grantItem.optional(),
});

/** What was found out, as it is answered. */
export function describeToken({ scope, issued_at, expires_at, grant, ...said }: Inspection, now: Date): Item {
  const known = {
    ...said,
    scope: scope && formatScope(scope),
    issued_at: issued_at?.toISOString(),
    expires_at: expires_at?.toISOString(),
    grant: grant && describeGrant(grant, now),
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
}

/** What ended with a token, as it is answered. */
export const describeEnd = (target: Target | undefined): Item => ({
  ended: target === undefined ? 'nothing' : target.gid === undefined ? 'token' : 'grant',
  ...(target && { client_id: target.client_id }),
  ...(target?.gid !== undefined && { grant_id: target.gid }),
});

export const tokens: AdminResource = {
  noun: 'token',
  summary: 'tokens',
  path: '/tokens',
  subject: 'tokens',
  item,
  actions: {
    introspect: actionOf({
      summary: 'Say what a token is, and why it is accepted or not',
      collection: true,
      reads: true,
      body,
      answer: item,
      // All of it is reading, so no transaction waits for the signature.
      prepare: ({ deps, now }, _ids, { token }) => inspect(deps, token, now),
      run: async ({ now }, _ids, _body, inspection: Inspection) => describeToken(inspection, now),
    }),
    revoke: actionOf({
      summary: 'Revoke a token, with the grant that it belongs to',
      collection: true,
      body,
      answer: z.strictObject({
        ended: z.enum(['grant', 'token', 'nothing']).describe('nothing: the token is unknown, or has expired'),
        client_id: z.string().optional(),
        grant_id: z.string().optional(),
      }),
      prepare: ({ deps, now }, _ids, { token }) => findTarget(deps, token, now),
      async run({ deps, by, now }, _ids, _body, target: Target | undefined) {
        if (target) await endTarget(deps, target, 'operator', by, now);
        return describeEnd(target);
      },
    }),
  },
};
