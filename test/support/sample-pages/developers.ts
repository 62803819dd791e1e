/** The pages of those who build and run things. They are in English. */
import { adminDocsPage } from '../../../src/views/admin-docs.ts';
import { devMailPage } from '../../../src/views/dev-mail.ts';
import { devThemePage } from '../../../src/views/dev-theme.ts';
import { demoPage } from '../../../src/views/demo.ts';
import type { Html } from '../../../src/views/html.ts';
import type { Frame } from '../../../src/views/layout.ts';
import { hostile } from './frame.ts';

export function developerSamples(page: Frame): Record<string, Html> {
  const frame: Frame = { ...page, lang: 'en', choice: undefined };
  const id_token_claims = {
    iss: 'http://localhost:3000',
    sub: '0197f3a2-6c1e-7b5d-9f0a-3f1d2c4b5a69',
    aud: 'demo-web',
    exp: 1763669000,
    iat: 1763665400,
    auth_time: 1763665390,
    nonce: 'n-0S6_WzA2Mj',
    amr: ['pwd'],
    sid: '5f8e2b1c',
    at_hash: '77QmUPtjPfzWtF2AnpK9RQ',
    name: 'Ada Lovelace',
    email: 'ada@example.test',
    email_verified: true,
  };
  const demo = {
    frame: { ...frame, issuer: 'http://localhost:3000', dev: true },
    id_token_claims,
    access_token_claims: {
      iss: 'http://localhost:3000',
      sub: id_token_claims.sub,
      aud: 'http://localhost:3000/userinfo',
      client_id: 'demo-web',
      scope: 'openid profile email offline_access',
      exp: 1763666000,
      iat: 1763665400,
      jti: 'pQ8Zl2w',
    },
    token_response: { access_token: 'eyJhbGciOi…', token_type: 'Bearer', expires_in: 600, id_token: 'eyJhbGciOi…' },
    userinfo: {
      sub: id_token_claims.sub,
      name: 'Ada Lovelace',
      email: 'ada@example.test',
      quote: 'She said "hi": <b>',
    },
    api: {
      url: 'http://localhost:3000/demo/api/secret-notes',
      status: 401,
      challenge: 'Bearer error="insufficient_user_authentication", acr_values="2", max_age="300"',
      body: { error: 'insufficient_user_authentication' },
      step_up_url: '/demo?acr_values=2&max_age=300',
    },
    again_url: '/demo',
    logout_url: '/logout',
  };

  const field = { name: 'client_name', type: 'string of at most 200', required: true, description: 'What people read' };
  const adminDocs = {
    frame,
    url: 'https://id.example.test/admin/v1',
    description: 'Everything an operator keeps.',
    openapi_url: 'https://id.example.test/admin/v1/openapi.json',
    token_example:
      'TOKEN=$(curl -sS https://id.example.test/token -u "$CLIENT_ID:$CLIENT_SECRET" | jq -r .access_token)',
    sections: [
      {
        name: 'clients',
        operations: [
          {
            operation_id: 'clients_create',
            method: 'POST',
            path: '/clients',
            summary: 'Create a client',
            scope: 'clients:write',
            parameters: [['header', [{ ...field, name: 'Idempotency-Key', required: false }]]] as const,
            body: { media_type: 'application/json', fields: [field] },
            answer: { status: '201', fields: [field] },
            refusals: ['400', '401'],
            example: 'curl -sS -X POST "https://id.example.test/admin/v1/clients" -H "Authorization: Bearer $TOKEN"',
          },
        ],
      },
    ],
  };

  return {
    'admin-docs': adminDocsPage(adminDocs),
    'admin-docs-hostile': adminDocsPage({
      ...adminDocs,
      url: hostile,
      description: hostile,
      openapi_url: 'javascript:alert(14)',
      token_example: hostile,
      sections: [
        {
          name: hostile,
          operations: adminDocs.sections[0]!.operations.map((operation) => ({
            ...operation,
            summary: hostile,
            path: hostile,
            scope: hostile,
            parameters: [[hostile, [{ ...field, name: hostile, type: hostile, description: hostile }]]] as const,
            body: null,
            answer: { status: '204', fields: null },
            refusals: [hostile],
            example: hostile,
          })),
        },
      ],
    }),
    'dev-mail': devMailPage({
      frame,
      json_url: '/dev/mail.json',
      letters: [
        {
          to: 'ada@example.test',
          at: '2025-11-20T19:23:00Z',
          state: 'sent',
          subject: 'Confirm your address',
          text: 'Hello,\n\n    123456\n\nhttps://id.example.test/verify/0123456789abcdefghijklmnopqrstuvwxyz0123456789\n',
          links: ['https://id.example.test/verify/0123456789abcdefghijklmnopqrstuvwxyz0123456789'],
          html_url: '/dev/mail/1.html',
        },
      ],
    }),
    'dev-mail-none': devMailPage({ frame, json_url: '/dev/mail.json', letters: [] }),
    'dev-theme': devThemePage({
      frame,
      theme: { name: 'Example', color: '#0b5d3b', color_dark: '#7fd6ae', policy_uri: 'https://example.test/privacy' },
      contrasts: [
        ['color', '7.20', true],
        ['color_dark', null, false],
      ],
      command: "postern settings set-theme --name 'Example'",
    }),
    'dev-theme-hostile': devThemePage({
      frame,
      theme: {
        name: hostile,
        color: hostile,
        color_dark: hostile,
        tos_uri: 'javascript:alert(15)',
      },
      contrasts: [[hostile, hostile, false]],
      command: hostile,
    }),
    demo: demoPage(demo),
    'demo-opaque': demoPage({ ...demo, access_token_claims: null, userinfo: null }),
    'demo-hostile': demoPage({
      ...demo,
      id_token_claims: { sub: hostile, name: hostile, [hostile]: hostile, exp: 1e300, amr: [hostile, { a: hostile }] },
      userinfo: { constructor: hostile, nested: { a: [hostile] } },
      again_url: 'javascript:alert(11)',
    }),
  };
}
