/** An operator's program: a client of the admin API with an access token, and requests with it. */
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { ADMIN_PATH, adminScopes } from '../../src/admin/index.ts';
import type { TestApp } from './app.ts';
import { aService, credentials, postForm, type AClient } from './fixtures.ts';

export interface Operator {
  client: AClient;
  access_token: string;
  /** Sends a request below the API's base. A body goes as JSON; headers are added to the token's. */
  send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<LightMyRequestResponse>;
}

/** Makes a client with these scopes, every one unless said otherwise, and gets its token. */
export async function anOperator(test: TestApp, scope: readonly string[] = [...adminScopes.keys()]): Promise<Operator> {
  const client = await aService(test, { scope: scope.join(' '), may_administer: true });
  const resource = `${test.deps.config.ISSUER}${ADMIN_PATH}`;
  const answer = await postForm(test, '/token', {
    grant_type: 'client_credentials',
    resource,
    ...credentials(client),
  });
  const { access_token } = answer.json<{ access_token: string }>();
  return {
    client,
    access_token,
    send: (method, path, body, headers = {}) =>
      test.app.inject({
        method,
        url: `${new URL(resource).pathname}${path}`,
        headers: {
          authorization: `Bearer ${access_token}`,
          ...(body !== undefined && {
            'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
          }),
          ...headers,
        },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      } as InjectOptions),
  };
}
