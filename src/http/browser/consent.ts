/** /interaction/{id}/consent: the person sees who asks for what, and where the answer goes. */
import type { FastifyInstance } from 'fastify';
import { accessLasts, decideConsent } from '../../authorize/interaction.ts';
import type { Language } from '../../languages/index.ts';
import { textOf } from '../../protocol/parameters.ts';
import { isIdentityScope, OFFLINE_ACCESS } from '../../protocol/scope.ts';
import { claimSentence, scopeSentence } from '../../views/claims.ts';
import { consentPage, type ScopeView } from '../../views/consent.ts';
import { sendPage } from '../page.ts';
import { requesterOf } from '../request.ts';
import { clientView, placeOf } from './client-view.ts';
import type { Context } from './context.ts';
import { detailsOf } from './details-view.ts';
import { stepDoor, stepForm, switchUrl } from './interaction.ts';
import { personView } from './signed-in.ts';

export function consent(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  stepDoor(app, context, 'consent', {
    async show(page, _request, reply) {
      const { opened } = page;
      if (opened.step !== 'consent' || !opened.session) return false;
      const person = personView(opened.session);
      const known = await deps.directory.scopes();
      const scopesIn = (language: Language) =>
        opened.request.scope.map<ScopeView>((scope) => ({
          name: scope,
          description: scopeSentence(language, scope, known.get(scope)),
          group: scope === OFFLINE_ACCESS ? 'offline' : isIdentityScope(scope, known) ? 'identity' : 'access',
          is_new: !opened.remembered.scope.includes(scope),
        }));
      const claimsIn = (language: Language) =>
        opened.claims.map<ScopeView>((name) => ({
          name,
          description: claimSentence(language, name),
          group: 'identity',
          is_new: !opened.remembered.claims.includes(name),
        }));
      const lasts = await accessLasts(deps, opened);
      const details = await detailsOf(context, opened.request.authorization_details ?? []);
      sendPage(context, reply, (frame) =>
        consentPage({
          frame,
          ...stepForm(context, page, 'consent'),
          client: clientView(opened.client, frame.lang),
          person,
          switch_url: switchUrl(context, opened),
          redirect_origin: opened.request.user_code === undefined ? placeOf(opened.request.redirect_uri) : '',
          user_code: opened.request.user_code,
          resource: opened.request.resource,
          lasts,
          details: details(frame.lang),
          scopes: [...scopesIn(frame.lang), ...claimsIn(frame.lang)],
        }),
      );
      return true;
    },
    async take({ opened }, form, request) {
      // Decided again: what comes before it may be owed anew, by a sign-in in another tab, and then nothing is agreed to.
      if (opened.step !== 'consent') return false;
      const action = textOf(form, 'action');
      // Anything but the two buttons decides nothing, and the page is shown again.
      if (action === 'approve' || action === 'deny') {
        await decideConsent(deps, opened, action === 'approve', requesterOf(request));
      }
      return false;
    },
  });
}
