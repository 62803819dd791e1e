/** A real server that is scraped and traced: what reaches Prometheus and a collector, and what never does. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fetch } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aConsentedClient, deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { aVerifier, PASSWORD } from '../support/fixtures.ts';
import { until } from '../support/postgres-process.ts';
import { sample } from '../support/scrape.ts';
import { freePort, runServer, startServer } from '../support/server.ts';
import { postTo } from '../support/visitor.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Array<{ key: string; value: { stringValue?: string; intValue?: number } }>;
  status: { code: number };
}

let collector: Server;
let received: string[] = [];
let deployment: Deployment;
let metricsPort: number;
stopServersAfterwards();
beforeAll(async () => {
  collector = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      received.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}\n${body}`);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => void collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo;
  metricsPort = await freePort();
  deployment = await deploy({
    env: {
      METRICS_PORT: String(metricsPort),
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=for the collector',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    },
  });
});
afterAll(() => {
  collector.close();
});

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

test('a server is scraped at its own port, and a second one that is to have the same does not start', async () => {
  const { issuer, env } = deployment;
  expect((await fetch(`${issuer}/metrics`)).status).toBe(404);
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const now = sample(text);
  expect(now('postern_http_requests_total', { method: 'GET', route: '/metrics', status: '404' })).toBeUndefined();
  expect(now('postern_http_requests_total', { method: 'GET', route: 'unknown', status: '404' })).toBe(1);
  expect(now('postern_database_up')).toBe(1);
  expect(now('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
  expect(now('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
  // Seen before it happens, so that a rate has a beginning.
  expect(now('postern_tokens_issued_total', { grant_type: 'refresh_token' })).toBe(0);
  expect(now('postern_refusals_total', { error: 'invalid_grant' })).toBe(0);

  const second = await runServer({ env: { ...env, ISSUER: 'http://localhost:1' } });
  expect([second.code, second.output]).toEqual([
    1,
    expect.stringMatching(/^error: the address for metrics, .* is in use/m),
  ]);
  const dev = await startServer({ command: 'dev', env: { ...env, ISSUER: undefined } });
  expect(dev.output()).toMatch(/"level":40.*the address for metrics, 127\.0\.0\.1:\d+, is in use/);
  await dev.stop();
});

test('ASVS 16.2.5: traces have the route, the status and the statements by name, beneath the caller’s, and nothing that was sent', async () => {
  const { issuer, test: local, servers } = deployment;
  const { client, visitor, username } = await aConsentedClient({ test: local, issuer });
  const { code_verifier, code_challenge } = aVerifier();
  const marks = { state: 'marker-state-zqxj', nonce: 'marker-nonce-zqxj', login_hint: 'marker-hint-zqxj' };
  const code = await visitor.code(client, { code_challenge, code_challenge_method: 'S256', ...marks });
  const { client_id, client_secret, redirect_uri } = client;
  const form = { grant_type: 'authorization_code', code, code_verifier, redirect_uri, client_id, client_secret };
  const headers = { traceparent: `00-${TRACE_ID}-${CALLER}-01`, baggage: 'who=marker-baggage-zqxj' };
  const redeemed = await postTo(`${issuer}/token`, form, headers);
  const { access_token, refresh_token } = redeemed.json as Record<string, string>;
  expect(redeemed.status).toBe(200);
  await fetch(`${issuer}/userinfo?access_token=${access_token}`, {
    headers: { authorization: `Bearer ${access_token}`, cookie: 'marker-cookie-zqxj=1', traceparent: 'nonsense' },
  });
  await fetch(`${issuer}/nothing/marker-path-zqxj`);
  await postTo(`${issuer}/login`, { username, password: 'marker-password-zqxj' });

  const server = servers[0]!;
  await server.stop();
  await until('the last spans have come', () => received.length > 0);
  const all = received.join('\n');
  expect(received[0]).toMatch(/^POST \/v1\/traces .*"x-collector-key":"for the collector"/);
  const sent = [
    code,
    code_verifier,
    access_token!,
    refresh_token!,
    client_secret,
    client_id,
    username,
    PASSWORD,
    'zqxj',
  ];
  expect([...sent, ...visitor.cookies.values()].filter((secret) => all.includes(secret))).toEqual([]);
  expect(server.output()).not.toContain('for the collector');

  const posts = received.map((text) => JSON.parse(text.slice(text.indexOf('\n'))) as Posted);
  const [resource] = posts.flatMap(({ resourceSpans }) => resourceSpans.map((one) => one.resource));
  expect(attributesOf(resource!)).toEqual({ 'service.name': 'postern', 'deployment.environment.name': 'test' });
  const spans = posts.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  );

  const token = spans.find(({ traceId, kind }) => traceId === TRACE_ID && kind === 2)!;
  expect([token.name, token.parentSpanId]).toEqual(['POST /token', CALLER]);
  expect(attributesOf(token)).toEqual({
    'http.request.method': 'POST',
    'http.route': '/token',
    'http.response.status_code': 200,
    'postern.request_id': redeemed.headers['x-request-id'],
  });
  const statements = spans.filter(({ parentSpanId }) => parentSpanId === token.spanId);
  // The body had been read by then: the thread is not lost there.
  expect(statements.map(({ name }) => name)).toContain('update authorization_codes');
  for (const statement of statements) {
    expect([statement.traceId, statement.kind]).toEqual([TRACE_ID, 3]);
    expect(Object.keys(attributesOf(statement)).toSorted()).toEqual([
      'db.collection.name',
      'db.operation.name',
      'db.system.name',
    ]);
    expect(BigInt(statement.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(token.endTimeUnixNano) + 2_000_000n);
  }

  const userinfo = spans.find(({ name }) => name === 'GET /userinfo')!;
  expect(userinfo.parentSpanId ?? '').toBe('');
  expect(userinfo.traceId).not.toBe(TRACE_ID);
  expect(spans.map(({ name }) => name)).toContain('GET unknown');
});

interface Posted {
  resourceSpans: Array<{ resource: Pick<Span, 'attributes'>; scopeSpans: Array<{ spans: Span[] }> }>;
}

const attributesOf = ({ attributes }: Pick<Span, 'attributes'>): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
