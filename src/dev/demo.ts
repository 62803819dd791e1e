/**
 * The demo application of development mode: a client of our own that sends people to /authorize, redeems the code on the
 * server as any backend would, over HTTP, and shows what it got. No JavaScript, no store.
 */
import { decodeJwt } from 'jose';
import type { Deps } from '../deps.ts';
import { endpoints, pages } from '../protocol/endpoint.ts';
import { invalidRequest, temporarilyUnavailable } from '../protocol/error.ts';
import type { Parameters } from '../protocol/parameters.ts';
import { challengeOf } from '../protocol/pkce.ts';
import { demoPage } from '../views/demo.ts';
import type { Html } from '../views/html.ts';
import type { Frame } from '../views/layout.ts';
import { demoApi, type ApiAnswer } from './demo-api.ts';
import { DEMO_WEB } from './seed.ts';

type Needs = Pick<Deps, 'clock' | 'config' | 'secrets' | 'fetch'>;

interface StepUp {
  acr_values?: string | undefined;
  max_age?: string | undefined;
}

/** The demo client's side: the link people click, and the page their answer comes back to. */
export function demoApplication(deps: Needs): {
  authorizationUrl(stepUp?: StepUp): string;
  callback(parameters: Parameters): Promise<(frame: Frame) => Html>;
  api(token: string | undefined): Promise<ApiAnswer>;
} {
  const { config, secrets, fetch } = deps;
  const { ISSUER } = config;
  const redirect_uri = `${ISSUER}${pages.demo_callback}`;
  // Derived, not stored: the link in the banner goes on working after a restart.
  const derived = (name: string): string => secrets.mac('demo', [name, ISSUER]).toString('base64url');
  const [code_verifier, state, nonce] = [derived('code_verifier'), derived('state'), derived('nonce')] as const;

  const authorizationUrl = ({ acr_values, max_age }: StepUp = {}): string => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: DEMO_WEB.client_id,
      redirect_uri,
      scope: 'openid profile email',
      state,
      nonce,
      code_challenge: challengeOf(code_verifier),
      code_challenge_method: 'S256',
      ...(acr_values !== undefined && { acr_values }),
      ...(max_age !== undefined && { max_age }),
    });
    return `${ISSUER}${endpoints.authorization_endpoint}?${query.toString().replaceAll('+', '%20')}`;
  };

  const callback = async (parameters: Parameters): Promise<(frame: Frame) => Html> => {
    const { code, error, error_description } = parameters;
    if (parameters['state'] !== state) throw invalidRequest('state is not the one the demo sent');
    if (typeof code !== 'string')
      throw invalidRequest(`the server answered ${String(error)}: ${String(error_description)}`);
    const answer = await fetch(`${ISSUER}${endpoints.token_endpoint}`, {
      method: 'POST',
      trusted: true,
      headers: {
        authorization: `Basic ${Buffer.from(`${DEMO_WEB.client_id}:${DEMO_WEB.client_secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri, code_verifier }).toString(),
    }).catch((cause: unknown) => {
      throw temporarilyUnavailable('the demo could not reach the token endpoint', { cause });
    });
    const tokens = JSON.parse(answer.text) as Record<string, unknown>;
    const { id_token, access_token } = tokens;
    if (typeof access_token !== 'string' || typeof id_token !== 'string') {
      throw invalidRequest(
        `the token endpoint answered ${String(tokens['error'])}: ${String(tokens['error_description'])}`,
      );
    }
    const userinfo = await fetch(`${ISSUER}${endpoints.userinfo_endpoint}`, {
      trusted: true,
      headers: { authorization: `Bearer ${access_token}` },
    });
    // What the API asks for, the client asks the server for: another sign-in, or a second factor.
    const notes = await demoApi(deps, access_token);
    const props = {
      id_token_claims: decodeJwt(id_token),
      access_token_claims: access_token.includes('.') ? decodeJwt(access_token) : null,
      token_response: Object.fromEntries(
        Object.entries(tokens).map(([name, value]) => [name, abbreviated(name, value)]),
      ),
      userinfo: userinfo.status === 200 ? (JSON.parse(userinfo.text) as Record<string, unknown>) : null,
      api: {
        url: `${ISSUER}${pages.demo_api}`,
        status: notes.status,
        challenge: notes.challenge,
        body: notes.body,
        step_up_url: notes.step_up && `${ISSUER}${pages.demo}?${new URLSearchParams(notes.step_up).toString()}`,
      },
      again_url: `${ISSUER}${pages.demo}`,
      logout_url: `${ISSUER}${endpoints.end_session_endpoint}`,
    };
    return (frame) => demoPage({ frame, ...props });
  };

  return { authorizationUrl, callback, api: (token) => demoApi(deps, token) };
}

/** Tokens stay out of the page: their claims are what a person wants to see. */
const abbreviated = (name: string, value: unknown): unknown =>
  name.endsWith('_token') && typeof value === 'string' ? `${value.slice(0, 16)}… (${value.length} characters)` : value;
