/** /interaction/{id}/passkey: after a sign-in by password, once, the offer to make a passkey. */
import type { FastifyInstance } from 'fastify';
import { createOwnPasskey } from '../../authorize/own-passkeys.ts';
import { declinePasskey, endPasskeyOffer, readyForOffer } from '../../authorize/passkey-offer.ts';
import { OAuthError } from '../../protocol/error.ts';
import { textOf } from '../../protocol/parameters.ts';
import type { ChallengeBinding } from '../../users/factors/passkey.ts';
import { passkeyOfferPage } from '../../views/passkey-offer.ts';
import { sendPage } from '../page.ts';
import { limited } from '../rate-limit.ts';
import { noted } from '../refusal.ts';
import { requesterOf } from '../request.ts';
import { clientView } from './client-view.ts';
import type { Context } from './context.ts';
import { stepDoor, stepForm, type OpenedPage } from './interaction.ts';
import { personView } from './signed-in.ts';

const challengeOf = ({ opened, browser }: OpenedPage): ChallengeBinding => ['create', browser, opened.id];

export function passkeyOffer(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  stepDoor(app, context, 'passkey_offer', {
    options: limited(app, deps.config, 'LOGIN_RATE_LIMIT'),
    async show(page, _request, reply) {
      const { step, session, client } = page.opened;
      const ready = step === 'passkey_offer' && session && (await readyForOffer(deps, session, challengeOf(page)));
      if (!ready) return false;
      const props = {
        ...stepForm(context, page, 'passkey_offer'),
        client: clientView(client, page.lang),
        person: personView(session),
        options: JSON.stringify(ready.options),
      };
      sendPage(context, reply, (frame) => passkeyOfferPage({ frame, ...props }));
      return true;
    },
    async take(page, form, request) {
      const { opened } = page;
      const { session, step } = opened;
      if (step !== 'passkey_offer' || !session) return false;
      const action = textOf(form, 'action');
      if (action === 'later') await declinePasskey(deps, opened, session);
      if (action !== 'create') return false;
      const creation = { answer: textOf(form, 'passkey'), challenge: challengeOf(page), name: '' };
      try {
        await createOwnPasskey(deps, session, creation, requesterOf(request), opened.now);
      } catch (error) {
        if (!(error instanceof OAuthError) || error.status >= 500) throw error;
        // An offer that came to nothing keeps nobody from where they were going: they find it in their account.
        noted(deps, request, error, 303);
      }
      await endPasskeyOffer(deps, opened);
      return false;
    },
  });
}
