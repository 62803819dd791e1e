/** Requests drawn from the description, against every operation: no defect shows, and every answer is one that is described. */
import fc from 'fast-check';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_PATH, operations, type Operation } from '../../src/admin/index.ts';
import { aBodyFor, seedAdminData, parametersOf, type AdminData } from '../support/admin-data.ts';
import { Judge } from '../support/api-description.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { anOperator } from '../support/operator.ts';
import { HOSTILE_TEXT, hostileValue, nearly, valueOf } from '../support/schema-values.ts';

/** For all operations together; as many for each as there is time for. */
const MILLISECONDS = 6_000;
const RUNS = 60;

let at: TestApp;
let data: AdminData;
let judge: Judge;
beforeAll(async () => {
  at = await testApp();
  judge = new Judge(at.deps.config.ISSUER);
  data = await seedAdminData(at);
});
afterAll(() => at.close());

interface Drawn {
  ids: Record<string, string>;
  query: string;
  headers: Record<string, string>;
  payload: string | undefined;
}

const text = fc.constantFrom(...HOSTILE_TEXT);
const header = fc.constantFrom(...HOSTILE_TEXT.filter((value) => /^[\x20-\x7E]*$/.test(value)));
const mostly = <T>(usual: fc.Arbitrary<T>, unusual: fc.Arbitrary<T>, weight = 6): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: unusual });

const pairs = (parameters: ReadonlyArray<readonly [string, string]>): string => {
  const said = parameters.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  return said === '' ? '' : `?${said}`;
};
/** Half a surrogate pair has no encoding: as some send it. */
const encode = (value: string): string => (value.isWellFormed() ? encodeURIComponent(value) : '%ED%A0%80');

function idsOf({ path }: Operation): fc.Arbitrary<Record<string, string>> {
  const drawn = parametersOf(path).map((name) => {
    const known = data.names[name] ?? [];
    const one = known.length > 0 ? mostly(fc.constantFrom(...known), text) : text;
    return one.map((value) => [name, value] as const);
  });
  return fc.tuple(...drawn).map((entries) => Object.fromEntries(entries));
}

function queryOf(operation: Operation): fc.Arbitrary<string> {
  const parameters = judge.spelledOut(operation).parameters.filter((parameter) => parameter.in === 'query');
  const known = parameters.map(({ name, schema }) =>
    mostly(valueOf(schema, data.names, name).map(String), text).map((value) => [name, value] as const),
  );
  const any = fc.tuple(text, text);
  const one = known.length === 0 ? any : mostly(fc.oneof(...known), any, 12);
  return mostly(fc.array(one, { maxLength: 3 }).map(pairs), fc.constantFrom('?%', '?a=%zz', '?&&&', '?=', '?limit'));
}

const CONTENT_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/json;;',
  'application/merge-patch+json',
  'application/json',
];
const RAW = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '{"a":1,"a":2}',
  '{"__proto__":{"a":1}}',
  '\uFEFF{}',
  '[[[['.repeat(2000),
  'x'.repeat(300_000),
];

function bodyOf(operation: Operation): fc.Arbitrary<Pick<Drawn, 'payload' | 'headers'>> {
  const { requestBody } = judge.spelledOut(operation);
  const raw = fc.constantFrom(...RAW);
  if (!requestBody) {
    return mostly<Pick<Drawn, 'payload' | 'headers'>>(
      fc.constant({ payload: undefined, headers: {} }),
      fc
        .tuple(raw, fc.constantFrom(...CONTENT_TYPES))
        .map(([payload, type]) => ({ payload, headers: { 'content-type': type } })),
    );
  }
  const [[type, { schema }]] = Object.entries(requestBody.content) as [[string, { schema: object }]];
  const valid = valueOf(schema, data.names);
  const json = fc.oneof(
    { weight: 4, arbitrary: valid },
    { weight: 4, arbitrary: nearly(valid) },
    { weight: 1, arbitrary: hostileValue },
  );
  return fc
    .tuple(
      mostly(
        json.map((value) => JSON.stringify(value)),
        raw,
      ),
      mostly(fc.constant(type), fc.constantFrom(...CONTENT_TYPES), 12),
    )
    .map(([payload, content]) => ({ payload, headers: { 'content-type': content } }));
}

function headersOf({ method, kind }: Operation): fc.Arbitrary<Record<string, string>> {
  const accept = mostly(
    fc.constantFrom('application/json', '*/*'),
    fc.constantFrom(
      'application/x-ndjson',
      'text/html',
      ';;;',
      'application/json;q=0',
      'application/*',
      'x'.repeat(2000),
    ),
  );
  const conditions = fc.record({ accept: fc.option(accept, { nil: undefined }) });
  const name = method === 'POST' ? 'idempotency-key' : kind === 'list' || kind === 'get' ? undefined : 'if-match';
  if (name === undefined) return conditions as fc.Arbitrary<Record<string, string>>;
  const value = fc.option(fc.oneof(header, fc.constantFrom('*', '"x"', 'W/"x"', '"x", *', ',', '"a"b"')), {
    nil: undefined,
    freq: 2,
  });
  return fc.tuple(conditions, value).map(([given, drawn]) => ({ ...given, [name]: drawn }) as Record<string, string>);
}

function usualRequestTo(operation: Operation): Drawn {
  const { path, method } = operation;
  const ids = Object.fromEntries(parametersOf(path).map((name) => [name, data.names[name]!.at(0)!]));
  const body = aBodyFor(operation, data.names);
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  return {
    ids,
    query: '',
    headers: body === undefined ? {} : { 'content-type': type },
    payload: body === undefined ? undefined : JSON.stringify(body),
  };
}

const requestTo = (operation: Operation): fc.Arbitrary<Drawn> =>
  fc
    .tuple(idsOf(operation), queryOf(operation), bodyOf(operation), headersOf(operation))
    .map(([ids, query, { payload, headers }, more]) => ({ ids, query, payload, headers: { ...headers, ...more } }));

function send(operation: Operation, { ids, query, headers, payload }: Drawn): Promise<LightMyRequestResponse> {
  const given = Object.entries(headers).filter(([, value]) => value !== undefined);
  return at.app.inject({
    method: operation.method,
    url: `${ADMIN_PATH}${operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encode(ids[name]!))}${query}`,
    headers: { authorization: `Bearer ${data.operator.access_token}`, ...Object.fromEntries(given) },
    ...(payload !== undefined && { payload }),
  });
}

/** Whoever deletes its own client, or retires the key that signed its token, is nobody. */
async function stillAnOperator(): Promise<void> {
  if ((await data.operator.send('GET', '/clients?limit=1')).statusCode === 200) return;
  await at.deps.keys.reload();
  data.operator = await anOperator(at);
}

/** First what only reads; what takes things away comes last, and of that first what is inside. */
const KINDS = ['list', 'get', 'create', 'replace', 'update', 'action', 'delete'];
const inOrder = operations.toSorted(
  (a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || (a.kind === 'delete' ? b.path.length - a.path.length : 0),
);

async function tryOut(operation: Operation, drawn: Drawn): Promise<number> {
  const answer = await send(operation, drawn);
  expect(judge.faultsOf(operation, answer).join('\n'), JSON.stringify(drawn)).toBe('');
  agreeing(operation, drawn, answer);
  if (answer.statusCode === 401) await stillAnOperator();
  return answer.statusCode;
}

/** What only a rule that a schema cannot hold refuses with: members that go together, names that are taken, cursors. */
const BEYOND_SCHEMAS = new Set(['custom', 'invalid_cursor', 'of_pages', 'unknown', 'other_name', undefined]);

/** What the document lets through is not refused for its shape, and what it does not is not let through. */
function agreeing(operation: Operation, drawn: Drawn, answer: LightMyRequestResponse): void {
  const { statusCode } = answer;
  if (statusCode < 300) {
    const objections = judge.objectionsTo(operation, drawn, false) ?? [];
    expect(objections.join('\n'), `done, and not described: ${JSON.stringify(drawn)}`).toBe('');
  }
  if (statusCode !== 400 || judge.objectionsTo(operation, drawn, true)?.length !== 0) return;
  const { errors = [], detail } = answer.json<{ errors?: Array<{ pointer: string; code: string }>; detail: string }>();
  const said = `described, and refused: ${detail} ${JSON.stringify([errors, drawn])}`;
  expect(detail, said).not.toMatch(/cannot be stored|Idempotency-Key|If-Match/);
  // No document can say that there are no other parameters (OpenAPI 3.1 §4.8.12).
  const declared = new Set(judge.described(operation).parameters.map(({ name }) => `?${name}`));
  const ofShape = errors.filter(
    ({ pointer, code }) =>
      !BEYOND_SCHEMAS.has(code) &&
      (!pointer.startsWith('?') || declared.has(pointer)) &&
      // JSON Schema counts code points; a length of ours, UTF-16 units.
      !(code === 'too_big' && /[\u{10000}-\u{10FFFF}]/u.test(said)),
  );
  expect(ofShape, said).toEqual([]);
}

test.each(inOrder.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
  '%s answers as it is described, whatever comes',
  async (_name, operation) => {
    await stillAnOperator();
    const usual = usualRequestTo(operation);
    const statuses = [await tryOut(operation, usual)];
    const until = performance.now() + MILLISECONDS / operations.length;
    for (const drawn of fc.sample(requestTo(operation), RUNS)) {
      if (performance.now() > until) break;
      statuses.push(await tryOut(operation, drawn));
    }
    // What was never done was not tried.
    expect(
      statuses.some((status) => status < 300),
      `${JSON.stringify(usual)} ${statuses.join(' ')}`,
    ).toBe(true);
  },
);
