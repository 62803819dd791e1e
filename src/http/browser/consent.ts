/** /interaction/{id}/consent: the person sees who asks for what, and where the answer goes. */
import type { FastifyInstance } from 'fastify';
import { decideConsent } from '../../authorize/interaction.ts';
import { OFFLINE_ACCESS } from '../../protocol/scope.ts';
import { claimSentence } from '../../views/claims.ts';
import { consentPage, type ScopeView } from '../../views/consent.ts';
import { formOf, requesterOf, requireForm, route, textOf } from '../request.ts';
import { clientView, placeOf } from './client-view.ts';
import { sendPage, urlOf, type Context } from './context.ts';
import { openInteraction, requireStepForm, stepToken, switchUrl, toInteraction } from './interaction.ts';
import { personView } from './signed-in.ts';

export function consent(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  route(app, '/interaction/:id/consent', {
    async GET(request, reply) {
      const page = await openInteraction(context, request, reply);
      const { opened } = page;
      if (opened.step !== 'consent' || !opened.session) return toInteraction(context, reply, opened.id, 302);
      const person = personView(opened.session);
      const known = await deps.directory.scopes();
      const scopes = opened.request.scope.map<ScopeView>((scope) => ({
        name: scope,
        description: known.get(scope)?.description ?? null,
        group: scope === OFFLINE_ACCESS ? 'offline' : isIdentity(scope) ? 'identity' : 'access',
        is_new: !opened.remembered.scope.includes(scope),
      }));
      const claims = opened.claims.map<ScopeView>((name) => ({
        name,
        description: claimSentence(name),
        group: 'identity',
        is_new: !opened.remembered.claims.includes(name),
      }));
      return sendPage(context, reply, (frame) =>
        consentPage({
          frame,
          action: urlOf(context, `/interaction/${opened.id}/consent`),
          form_token: stepToken(context, page, 'consent'),
          client: clientView(opened.client),
          person,
          switch_url: switchUrl(context, opened),
          redirect_origin: opened.request.user_code === undefined ? placeOf(opened.request.redirect_uri) : '',
          user_code: opened.request.user_code,
          resource: opened.request.resource,
          scopes: [...scopes, ...claims],
        }),
      );
    },
    async POST(request, reply) {
      requireForm(request);
      const form = formOf(request);
      const page = await openInteraction(context, request, reply);
      requireStepForm(context, request, page, 'consent', textOf(form, 'form_token'));
      const action = textOf(form, 'action');
      // Anything but the two buttons decides nothing, and the page is shown again.
      if (action === 'approve' || action === 'deny') {
        await decideConsent(deps, page.opened, action === 'approve', requesterOf(request));
      }
      return toInteraction(context, reply, page.opened.id, 303);
    },
  });
}

const IDENTITY = new Set(['openid', 'profile', 'email', 'address', 'phone', 'groups', 'roles']);
const isIdentity = (scope: string): boolean => IDENTITY.has(scope);
