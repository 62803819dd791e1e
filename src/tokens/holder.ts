/**
 * Who may use a token. Here alone it is decided what a new token is bound to, and whether somebody who presents one holds what it
 * was bound to: endpoints differ in nothing but how they answer.
 */
import type { Deps } from '../deps.ts';
import { tokenTypeOf, type Confirmation, type TokenType } from '../protocol/confirmation.ts';
import { invalidDpopProof, invalidRequest, invalidToken, OAuthError } from '../protocol/error.ts';
import type { Client } from '../store/clients.ts';
import { provenKey, type ProvenRequest } from './dpop.ts';
import type { PresentedToken } from './presented-token.ts';

/** A request with an access token in its Authorization header. */
export interface Presentation extends ProvenRequest {
  /** The scheme of the header. */
  type: TokenType;
  access_token: string;
}

type Needs = Pick<Deps, 'config' | 'db' | 'directory' | 'proofKeys' | 'secrets'>;

/** Must proofs of this client hold a nonce of ours? */
const wantsNonce = (
  { config }: Pick<Deps, 'config'>,
  client: Pick<Client, 'require_dpop_nonce'> | undefined,
): boolean => config.DPOP_NONCE === 'on' || client?.require_dpop_nonce === true;

/**
 * What the sender of a request to one of our endpoints holds, to which what it is given is bound: a key, a certificate, or
 * both; null when it shows nothing.
 * @throws OAuthError invalid_dpop_proof, use_dpop_nonce
 */
export async function confirmationOf(
  deps: Needs,
  client: Client,
  request: ProvenRequest,
  now: Date,
): Promise<Confirmation | null> {
  const { dpop, certificate, method, url } = request;
  // RFC 8705 §3.4: a certificate may be for authentication alone, or of a proxy that asks everybody for one.
  const bound = client.tls_client_certificate_bound_access_tokens && certificate !== undefined;
  if (dpop === undefined && !bound) return null;
  return {
    ...(dpop !== undefined && {
      jkt: await provenKey(deps, { dpop, method, url }, { nonce: wantsNonce(deps, client) }, now),
    }),
    ...(bound && { 'x5t#S256': certificate.thumbprint }),
  };
}

/** The same where tokens are issued: a client that registered for bound tokens gets no others. @throws OAuthError */
export async function bindingOf(
  deps: Needs,
  client: Client,
  request: ProvenRequest,
  now: Date,
): Promise<Confirmation | null> {
  // Before a proof is used up.
  if (client.tls_client_certificate_bound_access_tokens && request.certificate === undefined) {
    throw invalidRequest('this client has to connect with its certificate', {
      check: 'certificate_required',
      expected: 'a certificate, since the client has tls_client_certificate_bound_access_tokens',
      received: 'none',
    });
  }
  const cnf = await confirmationOf(deps, client, request, now);
  if (cnf?.jkt === undefined && client.dpop_bound_access_tokens) {
    // RFC 9449 §5.2.
    throw invalidDpopProof('this client has to send a DPoP proof', {
      check: 'dpop_required',
      expected: 'a DPoP header, since the client has dpop_bound_access_tokens',
      received: 'none',
    });
  }
  return cnf;
}

/**
 * Lets nobody pass who does not hold what the token is bound to, or presents it as what it is not.
 * @throws OAuthError invalid_token, invalid_dpop_proof, use_dpop_nonce: at a resource, each is a 401 with a challenge
 */
export async function requireHolder(
  deps: Needs,
  { client_id, cnf = {} }: Pick<PresentedToken, 'client_id' | 'cnf'>,
  presentation: Presentation,
  now: Date,
): Promise<void> {
  const { type, dpop, access_token, certificate, method, url } = presentation;
  const { jkt, 'x5t#S256': x5t, ...unknown } = cnf;
  if (Object.keys(unknown).length > 0)
    throw mismatch('the access token is bound in a way that is not known here', client_id, type);
  const expected = tokenTypeOf(cnf);
  if (type !== expected) {
    throw mismatch(`the access token has to be presented as ${expected}, which it was issued as`, client_id, type);
  }
  if (x5t !== undefined && certificate?.thumbprint !== x5t) {
    throw invalidToken('the access token is bound to another certificate than the one of this connection', {
      check: 'certificate_binding',
      expected: `the certificate ${x5t}`,
      received: certificate?.thumbprint ?? 'none',
      client_id,
    });
  }
  if (jkt === undefined) return;
  if (dpop === undefined) {
    throw invalidDpopProof('a DPoP proof has to come with the access token', {
      check: 'dpop_proof',
      expected: 'a DPoP header with a proof for this request and token',
      received: 'none',
      client_id,
    }).atResource();
  }
  try {
    const nonce = wantsNonce(deps, await deps.directory.client(client_id));
    const held = await provenKey(deps, { dpop, method, url }, { access_token, nonce }, now);
    if (held !== jkt) throw mismatch('the access token is bound to another key', client_id, type);
  } catch (error) {
    throw error instanceof OAuthError ? error.explain({ client_id }).atResource() : error;
  }
}

const mismatch = (description: string, client_id: string, type: TokenType): OAuthError =>
  invalidToken(description, { check: 'token_binding', received: `presented as ${type}`, client_id });
