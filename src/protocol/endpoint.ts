/** Where this server is reached: each path below the issuer stands here, and routes, metadata and links are made from it. */

/** The endpoints of clients, by their names in the metadata (RFC 8414 §2, RFC 8628 §4, RFC 9126 §5). */
export const endpoints = {
  authorization_endpoint: '/authorize',
  token_endpoint: '/token',
  userinfo_endpoint: '/userinfo',
  registration_endpoint: '/register',
  device_authorization_endpoint: '/device_authorization',
  pushed_authorization_request_endpoint: '/par',
  jwks_uri: '/jwks',
  introspection_endpoint: '/introspect',
  revocation_endpoint: '/revoke',
  end_session_endpoint: '/logout',
} as const;

/**
 * The pages of somebody's own account, each by the name that navigation and `/login?to=` call it. Who adds one adds its door
 * (http/browser/account/index.ts) and its words (views/account/frame.ts).
 */
export const accountPages = {
  overview: '/account',
  profile: '/account/profile',
  email: '/account/email',
  passkeys: '/account/passkeys',
  authenticator: '/account/authenticator',
  recovery_codes: '/account/recovery-codes',
  password: '/account/password',
  connections: '/account/connections',
  sessions: '/account/sessions',
  applications: '/account/applications',
  activity: '/account/activity',
  data: '/account/data',
  delete: '/account/delete',
} as const;

/** What a page of the account is called. */
export type AccountPageName = keyof typeof accountPages;

/** Is it one of them? */
export const isAccountPage = (name: string): name is AccountPageName => Object.hasOwn(accountPages, name);

/** Addresses of people. Those of the steps of an interaction are in authorize/next-step.ts. */
export const pages = {
  interaction: '/interaction',
  login: '/login',
  second_factor: '/login/second-factor',
  account: accountPages.overview,
  forgot_password: '/forgot-password',
  reset_password: '/reset-password',
  login_email: '/login/email',
  login_link: '/login/link',
  signup: '/signup',
  verify: '/verify',
  email_confirm: '/account/email/confirm',
  email_undo: '/account/email/undo',
  invitation: '/invitation',
  password_strength: '/password-strength',
  device: '/device',
  language: '/language',
  device_done: '/device/done',
  logout_done: '/logout/done',
  initiate: '/initiate',
  logo: '/logo',
  upstream: '/upstream',
  demo: '/demo',
  demo_callback: '/demo/callback',
  demo_api: '/demo/api/secret-notes',
  dev_mail: '/dev/mail',
  dev_theme: '/dev/theme',
} as const;

/** Where password managers look for the page on which a password is changed. */
export const WELL_KNOWN_CHANGE_PASSWORD = '/.well-known/change-password';

/** Where the metadata itself is (RFC 8414 §3, OpenID Connect Discovery §4); the first is what our own commands read. */
export const WELL_KNOWN = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'] as const;
