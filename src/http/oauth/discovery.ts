/**
 * Discovery (RFC 8414, OpenID Connect Discovery 1.0): one document at every place a client may look. What can be derived
 * from the tables that dispatch is, so that it says exactly what works.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../deps.ts';
import { steps } from '../../authorize/next-step.ts';
import { responseModes } from '../../authorize/response-modes.ts';
import { offeredMethods, seesCertificates } from '../../clients/certificates.ts';
import { grants } from '../../grants/index.ts';
import { languages } from '../../languages/index.ts';
import { metContext, readContexts } from '../../protocol/acr.ts';
import { RESPONSE_TYPES } from '../../protocol/authorization-request.ts';
import { CONFIDENTIAL_METHODS } from '../../protocol/client.ts';
import { CONTENT_ENCRYPTION, ENCRYPTION_ALGS } from '../../protocol/encryption-alg.ts';
import { DPOP_ALGS } from '../../protocol/dpop.ts';
import { endpoints, WELL_KNOWN } from '../../protocol/endpoint.ts';
import { ASSERTION_ALGS } from '../../protocol/jwt-assertion.ts';
import { CODE_CHALLENGE_METHODS } from '../../protocol/pkce.ts';
import { isPrompt } from '../../protocol/prompt.ts';
import { isRegistrationOn } from '../../users/sign-up-policy.ts';
import { REQUEST_OBJECT_SIGNING_ALGS } from '../../protocol/request-object.ts';
import { SUBJECT_TYPES } from '../../protocol/sector.ts';
import { isUnavailable } from '../../store/postgres/db.ts';
import { ANYBODY, waysToSignIn } from '../../users/factors/index.ts';
import { areAsked } from '../../users/factors/policy.ts';
import { crossOriginRoute } from '../cors.ts';
import { sendDocument, type PublicDocument } from './public-document.ts';

type Scopes = Awaited<ReturnType<Deps['directory']['scopes']>>;
type Types = Awaited<ReturnType<Deps['directory']['types']>>;

const MAX_AGE = 300;

export function discovery(app: FastifyInstance, deps: Deps): void {
  const document = documentOf(app, deps);
  for (const url of WELL_KNOWN) openAt(app, url, document);
}

/** For an issuer with a path: the same documents at the path-inserted places (RFC 8414 §3.1), at the listener's root. */
export function insertedDiscovery(app: FastifyInstance, deps: Deps, path: string): void {
  const document = documentOf(app, deps);
  for (const url of WELL_KNOWN) openAt(app, `${url}${path}`, document);
}

const openAt = (app: FastifyInstance, url: string, document: () => Promise<PublicDocument>): void =>
  crossOriginRoute(app, url, {
    head: true,
    GET: async (request, reply) => sendDocument(request, reply, await document()),
  });

/**
 * Makes the document, once for each reading of the scopes and of the types of authorization details: nothing else in it changes. While the database is away it is
 * the last one: what is public does not wait for it.
 */
function documentOf(app: FastifyInstance, deps: Deps): () => Promise<PublicDocument> {
  let last: { scopes: Scopes; types: Types; document: PublicDocument } | undefined;
  const current = async (): Promise<PublicDocument> => {
    try {
      const [scopes, types] = await Promise.all([deps.directory.scopes(), deps.directory.types()]);
      if (last?.scopes !== scopes || last.types !== types) {
        const body = Buffer.from(JSON.stringify(metadata(deps.config, scopes, types)));
        const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
        last = { scopes, types, document: { body, etag, max_age: MAX_AGE } };
      }
      return last.document;
    } catch (error) {
      if (!last || !isUnavailable(error)) throw error;
      return last.document;
    }
  };
  app.addHook('onReady', async () => {
    await current().catch(() => undefined);
  });
  return current;
}

/** Every endpoint there is, by its registered name. */
const endpointsOf = ({ ISSUER, REGISTRATION }: Deps['config']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(endpoints)
      .filter(([name]) => name !== 'registration_endpoint' || REGISTRATION !== 'off')
      .map(([name, path]) => [name, `${ISSUER}${path}`]),
  );

/** The metadata, member by registered member. */
export function metadata(config: Deps['config'], known: Scopes, types: Types): Record<string, unknown> {
  const { ISSUER, SIGNING_ALGS } = config;
  const scopes = [...known.values()];
  const claims = new Set(scopes.flatMap((scope) => scope.claims));
  const methods = offeredMethods(config);
  const contexts = readContexts(config.ACR_VALUES);
  return {
    issuer: ISSUER,
    ...endpointsOf(config),
    require_pushed_authorization_requests: config.REQUIRE_PUSHED_AUTHORIZATION_REQUESTS,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    frontchannel_logout_supported: true,
    frontchannel_logout_session_supported: true,
    // RFC 9396 §10.
    ...(types.size > 0 && { authorization_details_types_supported: [...types.keys()] }),
    scopes_supported: scopes.map((scope) => scope.name),
    response_types_supported: RESPONSE_TYPES,
    response_modes_supported: Object.keys(responseModes),
    grant_types_supported: Object.keys(grants),
    subject_types_supported: SUBJECT_TYPES,
    id_token_signing_alg_values_supported: SIGNING_ALGS,
    id_token_encryption_alg_values_supported: ENCRYPTION_ALGS,
    id_token_encryption_enc_values_supported: CONTENT_ENCRYPTION,
    userinfo_signing_alg_values_supported: SIGNING_ALGS,
    userinfo_encryption_alg_values_supported: ENCRYPTION_ALGS,
    userinfo_encryption_enc_values_supported: CONTENT_ENCRYPTION,
    authorization_signing_alg_values_supported: SIGNING_ALGS,
    authorization_encryption_alg_values_supported: ENCRYPTION_ALGS,
    authorization_encryption_enc_values_supported: CONTENT_ENCRYPTION,
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: CONFIDENTIAL_METHODS.filter((method) => methods.includes(method)),
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGS,
    revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGS,
    introspection_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGS,
    dpop_signing_alg_values_supported: DPOP_ALGS,
    // RFC 8705 §3.3.
    ...(seesCertificates(config) && { tls_client_certificate_bound_access_tokens: true }),
    code_challenge_methods_supported: CODE_CHALLENGE_METHODS,
    prompt_values_supported: [
      'none',
      ...Object.keys(steps).filter((step) => isPrompt(step) && (step !== 'create' || isRegistrationOn(config))),
    ],
    acr_values_supported: [...contexts.keys()].filter((name) =>
      waysToSignIn(ANYBODY, areAsked(config)).some((amr) => metContext(contexts, [name], amr) !== undefined),
    ),
    // The pages are full pages.
    display_values_supported: ['page'],
    ui_locales_supported: languages,
    claim_types_supported: ['normal'],
    claims_supported: [
      'sub',
      'iss',
      'aud',
      'exp',
      'iat',
      'auth_time',
      'nonce',
      'acr',
      'amr',
      'sid',
      'at_hash',
      ...claims,
    ],
    claims_parameter_supported: true,
    request_parameter_supported: true,
    request_uri_parameter_supported: true,
    require_request_uri_registration: true,
    require_signed_request_object: config.REQUIRE_SIGNED_REQUEST_OBJECT,
    request_object_signing_alg_values_supported: REQUEST_OBJECT_SIGNING_ALGS,
    request_object_encryption_alg_values_supported: config.ENCRYPTION_ALGS,
    request_object_encryption_enc_values_supported: CONTENT_ENCRYPTION,
    authorization_response_iss_parameter_supported: true,
  };
}
