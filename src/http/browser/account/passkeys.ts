/** /account/passkeys: the passkeys of a person, made, renamed and removed. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createOwnPasskey, removeOwnPasskey } from '../../../authorize/own-passkeys.ts';
import { SignInOver } from '../../../authorize/standing.ts';
import { OAuthError } from '../../../protocol/error.ts';
import { textOf, type Parameters } from '../../../protocol/parameters.ts';
import type { ChallengeBinding } from '../../../users/factors/passkey.ts';
import { nameOwnPasskey, readyToCreate } from '../../../users/passkeys.ts';
import { passkeysPage, type PasskeyProblem } from '../../../views/account/passkeys.ts';
import { limited } from '../../rate-limit.ts';
import { noted } from '../../refusal.ts';
import { requesterOf } from '../../request.ts';
import type { Context } from '../context.ts';
import { accountDoor, type Taken, type Visit } from './door.ts';

export function passkeys(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  accountDoor(app, context, 'passkeys', {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    // A page that is looked at makes the challenge that a new passkey answers.
    fresh: 'look',
    async show(visit, { again, done }) {
      const { user, form, now } = visit;
      const ready = await readyToCreate(deps, user, challengeOf(visit), now);
      return (frame) =>
        passkeysPage({
          frame,
          ...form,
          passkeys: ready.passkeys,
          options: JSON.stringify(ready.options),
          known: JSON.stringify(ready.known),
          problem: again && { of: again.problem as PasskeyProblem, field: again.field },
          done,
        });
    },
    async take(visit, form, request) {
      const action = textOf(form, 'action') ?? '';
      return Object.hasOwn(actions, action) ? actions[action]!(context, visit, form, request) : { to: 'passkeys' };
    },
  });
}

const challengeOf = ({ browser, session }: Visit): ChallengeBinding => ['create', browser, session.sid];

const problem = (of: PasskeyProblem, field: string): Taken => ({ problem: of, field });

type Action = (context: Context, visit: Visit, form: Parameters, request: FastifyRequest) => Promise<Taken>;

const actions: Readonly<Record<string, Action>> = {
  async create({ deps }, visit, form, request) {
    const creation = {
      answer: textOf(form, 'passkey'),
      challenge: challengeOf(visit),
      name: textOf(form, 'passkey-name') ?? '',
    };
    try {
      await createOwnPasskey(deps, visit.session, creation, requesterOf(request), visit.now);
      return { to: 'passkeys', done: 'created' };
    } catch (error) {
      if (!(error instanceof OAuthError) || error.status >= 500 || error instanceof SignInOver) throw error;
      noted(deps, request, error, 400);
      return problem('not_created', 'passkey-create');
    }
  },
  async rename({ deps }, { user, now }, form, request) {
    const passkey_id = textOf(form, 'passkey_id') ?? '';
    const renamed = await nameOwnPasskey(deps, user.sub, passkey_id, textOf(form, 'name') ?? '', requesterOf(request), now); // prettier-ignore
    if (renamed === 'renamed') return { to: 'passkeys', done: 'renamed' };
    return renamed === 'gone' ? problem('gone', 'passkeys') : problem('no_name', `passkey-name-${passkey_id}`);
  },
  async remove({ deps }, { session, now }, form, request) {
    const passkey_id = textOf(form, 'passkey_id') ?? '';
    const removal = await removeOwnPasskey(deps, session, passkey_id, requesterOf(request), now);
    if (removal === 'removed') return { to: 'passkeys', done: 'removed' };
    return removal === 'gone' ? problem('gone', 'passkeys') : problem('only_way', `passkey-remove-${passkey_id}`);
  },
};
