/** Tokens: inspecting and revoking any of them. A token is sent in a body, so that no log has it. */
import { z } from 'zod';
import { formatScope } from '../protocol/scope.ts';
import { TOKEN_FORMATS } from '../protocol/token-format.ts';
import { FAULTS, inspect, type Fault, type Inspection } from '../tokens/inspect.ts';
import { endTarget, findTarget, type Target } from '../tokens/revoke.ts';
import { describeGrant, grantItem } from './grants.ts';
import { collectionOf } from './api/collection.ts';

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
  format: z.enum(TOKEN_FORMATS).optional(),
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

const end = z.strictObject({
  ended: z.enum(['grant', 'token', 'nothing']).describe('nothing: the token is unknown, or has expired'),
  client_id: z.string().optional(),
  grant_id: z.string().optional(),
});

/** An inspection as it is answered. */
function describeToken(
  { aud, scope, issued_at, expires_at, grant, ...rest }: Inspection,
  now: Date,
): z.output<typeof item> {
  return {
    ...rest,
    aud: aud && [...aud],
    scope: scope && formatScope(scope),
    issued_at: issued_at?.toISOString(),
    expires_at: expires_at?.toISOString(),
    grant: grant && describeGrant(grant, now),
  };
}

/** What was revoked with a token, as it is answered. */
const describeEnd = (target: Target | undefined): z.output<typeof end> => ({
  ended: target === undefined ? 'nothing' : target.gid === undefined ? 'token' : 'grant',
  ...(target && { client_id: target.client_id }),
  ...(target?.gid !== undefined && { grant_id: target.gid }),
});

const collection = collectionOf({
  noun: 'token',
  summary: 'tokens',
  path: '/tokens',
  subject: 'tokens',
  item,
});

export const tokens = collection.with({
  actions: {
    introspect: collection.actionOnAll({
      summary: 'Say what a token is, and why it is accepted or not',
      reads: true,
      body,
      answer: item,
      // All of it is reading, so no transaction waits for the signature.
      prepare: ({ db, deps, now }, _ids, { token }) => inspect({ ...deps, db }, token, now),
      run: async ({ now }, _ids, _body, inspection: Inspection) => describeToken(inspection, now),
    }),
    revoke: collection.actionOnAll({
      summary: 'Revoke a token, with the grant that it belongs to',
      body,
      answer: end,
      prepare: ({ db, deps, now }, _ids, { token }) => findTarget({ ...deps, db }, token, now),
      async run({ trx, by, now }, _ids, _body, target: Target | undefined) {
        if (target) await endTarget(trx, target, 'operator', by, now);
        return describeEnd(target);
      },
    }),
  },
});
