/** The OpenAPI document, and the page of it. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_PATH, adminScopes, operations, PROBLEM_CODES } from '../../src/admin/index.ts';
import { parametersOf } from '../support/admin-data.ts';
import type { Described, Document } from '../support/api-description.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { anOperator } from '../support/operator.ts';

let at: TestApp;
let document: Document;
let all: Array<{ path: string; method: string; operation: Described }>;
beforeAll(async () => {
  at = await testApp();
  const answer = await at.app.inject(`${ADMIN_PATH}/openapi.json`);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  document = answer.json();
  all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
});
afterAll(() => at.close());

test('OpenAPI 3.1 §4.8: what has to be there is there, and nothing that is not in the standard', () => {
  expect(document).toMatchObject({
    openapi: expect.stringMatching(/^3\.1\.\d$/),
    info: { title: expect.any(String), version: expect.any(String) },
    servers: [{ url: `${at.deps.config.ISSUER}${ADMIN_PATH}` }],
  });
  expect(Object.keys(document).toSorted()).toEqual(['components', 'info', 'openapi', 'paths', 'servers']);
  const known = ['operationId', 'summary', 'tags', 'security', 'parameters', 'requestBody', 'responses'];
  for (const { operation } of all) for (const name of Object.keys(operation)) expect(known).toContain(name);
});

test('OpenAPI 3.1 §4.8.10: every operation is in it, once, with an operationId of its own', () => {
  expect(all.map(({ path, method }) => `${method} ${path}`).toSorted()).toEqual(
    operations.map(({ path, method }) => `${method} ${path}`).toSorted(),
  );
  const ids = all.map(({ operation }) => operation.operationId);
  expect([new Set(ids).size, ids.filter((id) => !/^[a-z_]+$/.test(id))]).toEqual([ids.length, []]);
});

test('OpenAPI 3.1 §4.8.12: every parameter of a path is declared and required, and no parameter twice', () => {
  for (const { path, operation } of all) {
    const { parameters } = operation;
    const inPath = parameters.filter((parameter) => parameter.in === 'path');
    expect(inPath.map(({ name }) => name)).toEqual(parametersOf(path));
    expect(inPath.every(({ required }) => required === true)).toBe(true);
    const names = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
    expect(new Set(names).size).toBe(names.length);
  }
});

test('OpenAPI 3.1 §4.8.23: every reference leads somewhere', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, reference]) => reference!);
  expect(references.length).toBeGreaterThan(0);
  for (const reference of new Set(references)) {
    const found = reference
      .slice('#/'.length)
      .split('/')
      .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], document);
    expect(found, reference).toBeTypeOf('object');
  }
});

test('OpenAPI 3.1 §4.8.24: every schema is one of JSON Schema 2020-12, and knows all its keywords', () => {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, validateFormats: false });
  const schemas = all.flatMap(({ operation }) => [
    ...operation.parameters.map(({ schema }) => schema),
    ...Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema),
    ...Object.values(operation.responses).flatMap(({ content }) =>
      Object.values(content ?? {}).map(({ schema }) => schema),
    ),
  ]);
  expect(schemas.length).toBeGreaterThan(100);
  const inline = schemas.filter(({ $ref }) => $ref === undefined);
  for (const schema of inline) expect(() => ajv.compile(schema), JSON.stringify(schema)).not.toThrow();
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema(document, 'api', false, false);
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    expect(ajv.validateSchema(schema), name).toBe(true);
    expect(() => ajv.compile({ $ref: `api#/components/schemas/${name}` }), name).not.toThrow();
  }
});

test('every answer and every body that is an object is a schema with a name, and no text of a pattern names properties of characters', () => {
  const bodies = all.flatMap(({ operation: { requestBody, responses } }) => [
    ...Object.values(requestBody?.content ?? {}),
    ...Object.values(responses).flatMap(({ content }) => Object.values(content ?? {})),
  ]);
  expect(bodies.length).toBeGreaterThan(100);
  for (const { schema } of bodies) expect(schema.$ref).toMatch(/^#\/components\/schemas\/[A-Z][A-Za-z]+$/);
  // As a generator would: an object within another one has a name, too.
  for (const [name, schema] of Object.entries(document.components.schemas))
    for (const [member, part] of Object.entries(schema.properties ?? {}))
      for (const { properties = {} } of [part, part.items ?? {}, ...(part.anyOf ?? [])])
        expect(Object.keys(properties), `${name}.${member}`).toEqual([]);
  expect(JSON.stringify(document)).not.toMatch(/\\\\[pP]\{/);
});

test('what a query means has its type, and what a header has to look like its pattern', () => {
  const parameter = (id: string, name: string) =>
    all.find(({ operation }) => operation.operationId === id)!.operation.parameters.find((each) => each.name === name)!
      .schema;
  expect(parameter('clients_list', 'limit')).toEqual({ type: 'integer', minimum: 1, maximum: 200, default: 50 });
  expect(parameter('users_list', 'disabled')).toEqual({ type: 'boolean' });
  expect(parameter('roles_list', 'server_wide')).toMatchObject({ type: 'boolean' });
  const key = new RegExp(parameter('clients_create', 'Idempotency-Key').pattern!);
  expect(['k', '"k"', 'a'.repeat(255)].every((text) => key.test(text))).toBe(true);
  expect(['', '"', 'a b', 'a'.repeat(256), 'ä', '"a"b"'].some((text) => key.test(text))).toBe(false);
  const tags = new RegExp(parameter('clients_update', 'If-Match').pattern!);
  expect(['*', '"x"', 'W/"x"', '"x", "y"', ' , "x",'].every((text) => tags.test(text))).toBe(true);
  expect(['', 'x', '*, "x"', '"x" "y"', '"x', '""x"'].some((text) => tags.test(text))).toBe(false);
});

test.each(['', '0', '201', '07', '+5', '5.0', '1e2', '-1', 'five', '%00', '5%0A'])(
  'what the document says of limit, the server says of limit=%s',
  async (text) => {
    const operator = await anOperator(at);
    const answer = await operator.send('GET', `/clients?limit=${text}`);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([
      400,
      'application/problem+json; charset=utf-8',
    ]);
  },
);

test('text is refused by its pattern as the server refuses it, character by character', () => {
  const { VisibleText, PlainText } = document.components.schemas;
  const differing: string[] = [];
  for (const [{ pattern }, rule] of [
    [VisibleText!, /^[^\p{C}\p{DI}]$/u],
    [PlainText!, /^\P{C}$/u],
  ] as const) {
    const written = new RegExp(pattern!, 'u');
    for (let code = 0; code < 0x110000; code += code < 0x3000 ? 1 : 7) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const char = String.fromCodePoint(code);
      if (written.test(char) !== rule.test(char)) differing.push(code.toString(16));
    }
  }
  expect(differing).toEqual([]);
});

test('every operation names its scope, which the security scheme lists, and the refusals it may give', () => {
  const { securitySchemes } = document.components as unknown as {
    securitySchemes: { oauth2: { flows: { clientCredentials: { scopes: object } } } };
  };
  expect(Object.keys(securitySchemes.oauth2.flows.clientCredentials.scopes)).toEqual([...adminScopes.keys()]);
  for (const { operation } of all) {
    expect(adminScopes.has(operation.security[0]!['oauth2']![0]!)).toBe(true);
    for (const status of ['400', '401', '403', '404', '429', '431', '500', '503'])
      expect(operation.responses).toHaveProperty(status);
  }
  expect(PROBLEM_CODES.length).toBeGreaterThan(10);
});

test('the page of it names every operation with its scope and a call, runs no script, and asks for nothing', async () => {
  const answer = await at.app.inject({ url: `${ADMIN_PATH}/docs`, headers: { accept: 'text/html' } });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(answer.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'nonce-/);
  for (const { path, method, scope } of operations) {
    expect(answer.body).toContain(`<code>${method} ${path}</code>`);
    expect(answer.body).toContain(scope);
  }
  expect(answer.body.match(/<details/g)).toHaveLength(operations.length);
  expect(answer.body.match(/curl -sS/g)).toHaveLength(operations.length + 1);
  expect(answer.body).not.toMatch(/<script|undefined|\[object|NaN/);
});

test.each(['/openapi.json', '/docs'])('%s is only read', async (path) => {
  const answer = await at.app.inject({ method: 'POST', url: `${ADMIN_PATH}${path}` });
  expect([answer.statusCode, answer.headers['allow']]).toEqual([405, 'GET, HEAD']);
  expect((await at.app.inject({ method: 'HEAD', url: `${ADMIN_PATH}${path}` })).statusCode).toBe(200);
});
