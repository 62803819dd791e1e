/** The scenarios, in the order of the table. A new one is a file and a row. */
import type { Scenario } from '../scenario.ts';
import { clientCredentials, logged } from './client-credentials.ts';
import { codeExchange } from './code-exchange.ts';
import { codeFlow } from './code-flow.ts';
import { discovery, jwks } from './documents.ts';
import { clientCredentialsDpop, userinfoDpop } from './dpop.ts';
import { introspectJwt, introspectOpaque } from './introspection.ts';
import { refresh } from './refresh.ts';
import { revocation } from './revocation.ts';
import { signIn } from './sign-in.ts';
import { userinfo } from './userinfo.ts';

export const scenarios = {
  'client-credentials-es256': clientCredentials('es256'),
  'client-credentials-eddsa': clientCredentials('eddsa'),
  'client-credentials-rs256': clientCredentials('rs256'),
  'client-credentials-opaque': clientCredentials('opaque'),
  'client-credentials-logged': logged,
  'client-credentials-dpop': clientCredentialsDpop,
  'code-exchange': codeExchange({ openid: false }),
  'code-exchange-openid': codeExchange({ openid: true }),
  refresh: refresh({ openid: false }),
  'refresh-openid': refresh({ openid: true }),
  'introspection-jwt': introspectJwt,
  'introspection-opaque': introspectOpaque,
  userinfo,
  'userinfo-dpop': userinfoDpop,
  revocation,
  discovery,
  jwks,
  'sign-in': signIn,
  'code-flow': codeFlow,
} as const satisfies Record<string, Scenario>;
