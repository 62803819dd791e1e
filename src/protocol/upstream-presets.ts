/** Providers that many have: what is the same for everybody who uses one. The rest (client_id, secret) is each operator's own. */
import type { UpstreamFields } from './upstream.ts';

/** By name: what a preset fills in. What an operator says beside it counts more. */
export const upstreamPresets = {
  google: { label: 'Google', issuer: 'https://accounts.google.com' },
  // Of one tenant: the issuer of the others is a template, and anybody has an account there. Its addresses are not
  // verified unless the optional claim xms_edov says so.
  microsoft: {
    label: 'Microsoft',
    issuer: 'https://login.microsoftonline.com/{tenant}/v2.0',
    claims: { email_verified: 'xms_edov' },
  },
  // A name comes only with form_post, and only the first time.
  apple: {
    label: 'Apple',
    issuer: 'https://appleid.apple.com',
    scope: ['openid', 'name', 'email'],
    response_mode: 'form_post',
    token_endpoint_auth_method: 'client_secret_post',
  },
  github: {
    label: 'GitHub',
    kind: 'oauth2',
    issuer: 'https://github.com',
    authorization_endpoint: 'https://github.com/login/oauth/authorize',
    token_endpoint: 'https://github.com/login/oauth/access_token',
    userinfo_endpoint: 'https://api.github.com/user',
    emails_endpoint: 'https://api.github.com/user/emails',
    token_endpoint_auth_method: 'client_secret_post',
    scope: ['read:user', 'user:email'],
    claims: { sub: 'id', preferred_username: 'login', picture: 'avatar_url', website: 'blog', profile: 'html_url' },
  },
  gitlab: { label: 'GitLab', issuer: 'https://gitlab.com' },
  // Another one of these: its acr and amr mean what ours do.
  postern: {
    label: 'Postern',
    acr_values: { '2': ['mfa'] },
    amr_values: { pwd: ['pwd'], otp: ['otp'], hwk: ['hwk'], swk: ['swk'], user: ['user'], mfa: ['mfa'] },
  },
} as const satisfies Record<string, DeepReadonly<Partial<UpstreamFields>>>;

type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] };

/** The name of a preset. */
export type UpstreamPreset = keyof typeof upstreamPresets;
