/** Forged forms (RFC 6749 §10.12): a POST counts only from a page of ours, in the browser that was shown it. */
import type { FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import { OAuthError } from '../../protocol/error.ts';
import type { Parameters } from '../../protocol/parameters.ts';
import { formOf, requireForm } from '../request.ts';

/** The refusal of a form that came from another site, or from a page that is out of date. */
export class ForgedForm extends OAuthError {
  constructor(cause: string) {
    super('invalid_request', 'this page is out of date or was opened elsewhere; nothing was done', {
      cause,
      check: 'forged_form',
      expected: 'a form of this page, in the browser that was shown it',
    });
  }
}

/** What a form is bound to: the page's subject, the browser's cookie, and, where it decides for a person, the session. */
export type Binding = readonly [subject: string, browser: string, sid: string];

type Needs = Pick<Deps, 'config' | 'secrets'>;

/** The hidden token of a form. */
export const formToken = ({ secrets }: Pick<Needs, 'secrets'>, binding: Binding): string =>
  secrets.mac('form', binding).toString('base64url');

/** @throws ForgedForm */
export function requireFormToken({ secrets }: Needs, form_token: string | undefined, binding: Binding): void {
  if (binding[1] === '') throw new ForgedForm('the browser has no cookie of ours');
  if (!secrets.verifyMac('form', binding, Buffer.from(form_token ?? '', 'base64url'))) {
    throw new ForgedForm('the form token does not belong to this page');
  }
}

/** Did a browser send this? Every one adds at least one of these to a POST; scripts add neither. */
export const isFromBrowser = ({ headers }: FastifyRequest): boolean =>
  headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;

/** Refuses what a page of another origin sent. @throws ForgedForm */
export function requireSameOrigin({ config }: Pick<Needs, 'config'>, { headers }: FastifyRequest): void {
  if (!isSameOrigin(config.ISSUER, headers)) {
    throw new ForgedForm(
      `the form came from ${headers.origin ?? headers['sec-fetch-site']}, not from ${config.ISSUER}`,
    );
  }
}

/** The form of a request, where a page of ours sent it. Whose page it was, `requireFormToken` says. @throws ForgedForm */
export function formFromHere(deps: Pick<Needs, 'config'>, request: FastifyRequest): Parameters {
  requireForm(request);
  const form = formOf(request);
  requireSameOrigin(deps, request);
  return form;
}

function isSameOrigin(issuer: string, { origin, 'sec-fetch-site': site }: FastifyRequest['headers']): boolean {
  if (origin !== undefined && origin !== new URL(issuer).origin) return false;
  return site === undefined || site === 'same-origin' || site === 'none';
}
