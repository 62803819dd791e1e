/** /account/recovery-codes: how many are left, and ten new ones in their place. */
import type { FastifyInstance } from 'fastify';
import { renewOwnCodes } from '../../../authorize/own-factors.ts';
import { textOf } from '../../../protocol/parameters.ts';
import { codesLeft } from '../../../users/factors/recovery-code.ts';
import { recoveryCodesPage } from '../../../views/account/recovery-codes.ts';
import { limited } from '../../rate-limit.ts';
import { requesterOf } from '../../request.ts';
import type { Context } from '../context.ts';
import { codesFile } from '../recovery-codes.ts';
import { accountDoor, sendAccountPage } from './door.ts';

export function recoveryCodes(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  accountDoor(app, context, 'recovery_codes', {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    fresh: 'act',
    async show({ session, form }) {
      const has = session.second_factors.length > 0;
      const codes = has ? ((await codesLeft(deps, session.sub)) ?? { left: 0, created_at: null }) : null;
      return (frame) => recoveryCodesPage({ frame, ...form, codes });
    },
    async take({ session, form: own, now }, form, request, reply) {
      if (textOf(form, 'action') === 'download') {
        codesFile(context, reply, textOf(form, 'codes'));
        return 'answered';
      }
      const made = await renewOwnCodes(deps, session, requesterOf(request), now);
      if (!made) return { to: 'recovery_codes' };
      sendAccountPage(context, reply, 'recovery_codes', (frame) =>
        recoveryCodesPage({ frame, ...own, codes: null, made }),
      );
      return 'answered';
    },
  });
}
