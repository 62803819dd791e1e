/**
 * The checks a request can fail, each with the clause that asks for it. A refusal names its check; the clause is looked up
 * here and typed nowhere else. Names are few and fixed, so that they can be counted by.
 */
export const CHECKS = {
  // Every request.
  form: 'RFC 6749 §3.2',
  parameter: 'RFC 6749 §5.2',
  repeated: 'RFC 6749 §3.1',
  method: 'RFC 9110 §15.5.6',
  address: 'RFC 9110 §15.5.5',
  https: 'RFC 6749 §1.6',
  http: 'RFC 9112 §2.2',
  host: 'RFC 9110 §7.4',
  rate_limit: 'RFC 6585 §4',
  database: 'RFC 9110 §15.6.4',
  defect: 'RFC 9110 §15.6.1',

  // Who asks.
  client_id: 'RFC 6749 §2.2',
  client_authentication: 'RFC 6749 §2.3',
  client_secret: 'RFC 6749 §2.3.1',
  client_assertion: 'RFC 7523 §3',
  client_certificate: 'RFC 8705 §2',
  confidential_client: 'RFC 6749 §2.1',
  client_profile: 'FAPI 2.0 Security Profile §5.3.2.1',
  client_guesses: 'RFC 6749 §2.3.1',

  // Authorization requests: the rows of authorize/checks.ts and what comes before and after them.
  redirect_uri: 'RFC 6749 §3.1.2.3',
  request_object: 'RFC 9101 §6',
  request_uri: 'RFC 9101 §5.2',
  pushed_request: 'RFC 9126 §2.1',
  unsupported: 'OpenID Connect Core §3.1.2.6',
  pushed: 'RFC 9126 §5',
  response_type: 'RFC 6749 §3.1.1',
  response_mode: 'OAuth 2.0 Multiple Response Types §2.1',
  pkce: 'RFC 7636 §4.4.1',
  scope: 'RFC 6749 §3.3',
  resource: 'RFC 8707 §2',
  authorization_details: 'RFC 9396 §5',
  prompt: 'OpenID Connect Core §3.1.2.1',
  max_age: 'OpenID Connect Core §3.1.2.1',
  claims: 'OpenID Connect Core §5.5',
  nonce: 'OpenID Connect Core §3.1.2.1',
  login_hint: 'OpenID Connect Core §3.1.2.1',
  ui_locales: 'OpenID Connect Core §3.1.2.1',
  id_token_hint: 'OpenID Connect Core §3.1.2.1',
  person: 'OpenID Connect Core §3.1.2.6',
  consent: 'RFC 6749 §4.1.2.1',
  interaction: 'RFC 6749 §4.1.1',
  forged_form: 'RFC 6749 §10.12',

  // What tokens are bound to.
  dpop_proof: 'RFC 9449 §4.3',
  dpop_replay: 'RFC 9449 §11.1',
  dpop_nonce: 'RFC 9449 §8',
  dpop_required: 'RFC 9449 §5.2',
  dpop_jkt: 'RFC 9449 §10',
  token_binding: 'RFC 9449 §7.1',
  certificate: 'RFC 8705 §6.5',
  certificate_required: 'RFC 8705 §3.4',
  certificate_binding: 'RFC 8705 §3',

  // Grants.
  grant_type: 'RFC 6749 §5.2',
  code: 'RFC 6749 §4.1.3',
  code_client: 'RFC 6749 §4.1.3',
  code_redirect_uri: 'RFC 6749 §4.1.3',
  code_verifier: 'RFC 7636 §4.6',
  code_dpop_jkt: 'RFC 9449 §10',
  code_replay: 'RFC 6749 §4.1.2',
  code_expiry: 'RFC 6749 §4.1.2',
  refresh_token: 'RFC 6749 §6',
  refresh_token_client: 'RFC 6749 §6',
  refresh_token_binding: 'RFC 9449 §5',
  refresh_token_reuse: 'RFC 9700 §4.14.2',
  refresh_token_expiry: 'RFC 6749 §6',
  authorization: 'RFC 6749 §5.2',
  device_code: 'RFC 8628 §3.5',
  user_code: 'RFC 8628 §5.1',
  poll_interval: 'RFC 8628 §3.5',
  token_size: 'RFC 6749 §5.2',

  // Tokens at our own doors.
  access_token: 'RFC 6750 §3.1',
  access_token_audience: 'RFC 9068 §4',
  access_token_scope: 'RFC 6750 §3.1',
  bearer: 'RFC 6750 §2',

  // Registration.
  initial_access_token: 'RFC 7591 §3',
  registration_access_token: 'RFC 7592 §2',
  client_metadata: 'RFC 7591 §3.2.2',
  software_statement: 'RFC 7591 §2.3',
  registration_quota: 'RFC 7591 §5',

  // Operators' requests.
  content: 'RFC 9110 §15.5.1',
  media_type: 'RFC 9110 §15.5.16',
  body_size: 'RFC 9110 §15.5.14',
  accept: 'RFC 9110 §12.5.1',
  if_match: 'RFC 9110 §13.1.1',
  present: 'RFC 9110 §15.5.5',
  conflict: 'RFC 9110 §15.5.10',
  idempotency_key: 'draft-ietf-httpapi-idempotency-key-header §2.7',

  // People.
  password: 'OWASP ASVS 6.3.8',
  account: 'OWASP ASVS 6.3.8',
  mail_requests: 'OWASP ASVS 6.3.1',
  new_password: 'OWASP ASVS 6.2.1',
  sign_in_attempts: 'OWASP ASVS 6.3.1',
  mail_code: 'OWASP ASVS 6.5.4',
  mail_code_attempts: 'OWASP ASVS 6.3.1',
  mail_link: 'OWASP ASVS 6.4.1',
  sign_up: 'OWASP ASVS 6.2.1',
  second_factor: 'OWASP ASVS 6.5.1',
  second_factor_missing: 'OWASP ASVS 6.3.3',
  second_factor_attempts: 'OWASP ASVS 6.6.3',
  second_factor_key: 'OWASP ASVS 6.5.1',
  step_up: 'RFC 9470 §5',
  sign_in_queue: 'OWASP ASVS 15.4.4',
  sign_in_beside: 'OWASP ASVS 7.2.4',
  standing: 'OWASP ASVS 7.5.1',
  passkey: 'Web Authentication §7.2',
  passkey_unknown: 'Web Authentication §7.2',
  passkey_challenge: 'Web Authentication §13.4.3',
  passkey_count: 'Web Authentication §6.1.1',
  logout_hint: 'OpenID Connect RP-Initiated Logout §2',
  post_logout_redirect_uri: 'OpenID Connect RP-Initiated Logout §3',
  upstream: 'OpenID Connect Core §3.1.3.7',
  upstream_state: 'RFC 6749 §10.12',
  upstream_logout: 'OpenID Connect Back-Channel Logout §2.6',
  initiate_login: 'OpenID Connect Core §4',
} as const satisfies Record<string, string>;

export type Check = keyof typeof CHECKS;

/** The clause of a check, by whatever name it was kept; undefined for one that this version does not know. */
export const clauseOf = (check: string): string | undefined =>
  Object.hasOwn(CHECKS, check) ? CHECKS[check as Check] : undefined;
