/** /account/authenticator: an authenticator app is set up by a right code of it, and removed. */
import type { FastifyInstance } from 'fastify';
import { removeOwnFactor, setUpTotp } from '../../../authorize/own-factors.ts';
import { textOf } from '../../../protocol/parameters.ts';
import { checkSetup, readSetup } from '../../../users/enrolment.ts';
import { factorOf } from '../../../users/factors/index.ts';
import { areAsked } from '../../../users/factors/policy.ts';
import { authenticatorPage } from '../../../views/account/authenticator.ts';
import { limited } from '../../rate-limit.ts';
import { requesterOf } from '../../request.ts';
import type { Context } from '../context.ts';
import { codesFile } from '../recovery-codes.ts';
import { keepElevated, newSetup, setupView } from '../second-factor-setup.ts';
import { accountDoor, sendAccountPage } from './door.ts';
import { accountUrl } from './person.ts';

export function authenticator(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  accountDoor(app, context, 'authenticator', {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    fresh: 'look',
    async show({ session, form, now }, { again, done }, request) {
      const common = { ...form, done, problem: again?.problem, request_id: again && request.id };
      const [present] = await factorOf('totp').list(deps, session.sub);
      if (present) {
        const { created_at, used_at, lost = false } = present;
        return (frame) => authenticatorPage({ frame, ...common, shows: 'present', created_at, used_at, lost });
      }
      if (!areAsked(deps.config)) return (frame) => authenticatorPage({ frame, ...common, shows: 'off' });
      // The form again shows no other secret.
      const sealed = again && textOf(again.form, 'setup');
      const secret = readSetup(deps, session, sealed, now);
      const setup =
        secret && sealed ? setupView(deps.config.ISSUER, session, secret, sealed) : newSetup(context, session, now);
      return (frame) => authenticatorPage({ frame, ...common, shows: 'none', setup });
    },
    async take(visit, form, request, reply) {
      const { session, sessions, browser, now } = visit;
      const by = requesterOf(request);
      if (textOf(form, 'action') === 'download') {
        codesFile(context, reply, textOf(form, 'codes'));
        return 'answered';
      }
      if (textOf(form, 'action') === 'remove') {
        const removed = await removeOwnFactor(deps, session, 'totp', by, now);
        return { to: 'authenticator', ...(removed && { done: 'removed' }) };
      }
      if (!areAsked(deps.config) || session.second_factors.includes('totp')) return { to: 'authenticator' };
      const secret = readSetup(deps, session, textOf(form, 'setup'), now);
      if (!secret) return { problem: 'too_late', field: 'otp' };
      const totp = checkSetup(deps, session, secret, textOf(form, 'otp') ?? '', now);
      if (!totp) return { problem: 'wrong_code', field: 'otp' };
      const { handle, codes } = await setUpTotp(deps, session, totp, { browser, via: 'account', fresh: true }, by);
      keepElevated(context, request, reply, { session, sessions }, handle);
      if (!codes) return { to: 'authenticator', done: 'added' };
      const onward = accountUrl(context, 'authenticator');
      sendAccountPage(context, reply, 'authenticator', (frame) =>
        authenticatorPage({ frame, ...visit.form, shows: 'codes', codes: { ...visit.form, codes }, onward }),
      );
      return 'answered';
    },
  });
}
