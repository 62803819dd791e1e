import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256 } from '../../src/protocol/handle.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { countRequest } from '../../src/users/asking.ts';
import {
  CODE_TRIES,
  drawRequest,
  makeLink,
  openLink,
  PURPOSES,
  useCode,
  useLink,
  voidLinks,
  type NewLink,
  type Purpose,
} from '../../src/users/links.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aUser } from '../support/fixtures.ts';

let at: TestApp;
let other: TestApp;
let sub: string;

beforeAll(async () => {
  at = await testApp();
  other = await testApp({ database: at.database, clock: at.clock });
  ({ sub } = await aUser(at));
});
afterAll(async () => {
  await other.close();
  await at.close();
});

const now = () => at.clock.now();
const make = (link: Partial<NewLink> = {}) =>
  transact(at.deps.db, (trx) => makeLink(trx, at.deps, { purpose: 'reset-password', sub, ...link }, now()));
const use = (token: string, purpose: Purpose = 'reset-password', where = at) =>
  transact(where.deps.db, (trx) => useLink(trx, purpose, token, now()));
const BROWSER = sha256('a browser');

/** A page that waits for a code, and the link that stands for it. */
async function requested(purpose: Purpose = 'sign-in') {
  const { handle: request } = drawRequest(at.deps, purpose, now());
  return { request, ...(await make({ purpose, page: { request, browser_hash: BROWSER } })) };
}
const type = (request: string, code: string, browser_hash = BROWSER, where = at) =>
  useCode(where.deps.db, where.deps, { purpose: 'sign-in', request, browser_hash, code }, now());
const wrong = (code: string | undefined): string => (code === '000000' ? '111111' : '000000');

test('a link is good once, and opening it uses nothing up', async () => {
  const { token, code } = await make({ email: 'ada@example.test', detail: { a: 'b' } });
  expect(code).toBeUndefined();
  expect(Buffer.from(token.slice(token.indexOf('_') + 1), 'base64url')).toHaveLength(32);
  for (let opened = 0; opened < 3; opened += 1) {
    expect(await openLink(at.deps.db, 'reset-password', token, now())).toMatchObject({ sub, detail: { a: 'b' } });
  }
  expect(await use(token)).toMatchObject({ sub, email: 'ada@example.test' });
  expect(await use(token)).toBeUndefined();
  expect(await openLink(at.deps.db, 'reset-password', token, now())).toBeUndefined();
});

test('what is stored of it is a hash', async () => {
  const { token, code, request } = await requested();
  const rows = JSON.stringify(await at.deps.db.selectFrom('person_links').selectAll().execute());
  expect(rows).not.toContain(token);
  expect(rows).not.toContain(request);
  expect(rows).not.toContain(`"${code}"`);
});

test('a link is good for its purpose, and for its time', async () => {
  for (const [purpose, lifetime] of Object.entries(PURPOSES) as Array<[Purpose, number]>) {
    const { token } = await make({ purpose });
    for (const another of Object.keys(PURPOSES) as Purpose[])
      expect((await openLink(at.deps.db, another, token, now())) !== undefined).toBe(another === purpose);
    const elsewhere = purpose === 'invitation' ? 'sign-in' : 'invitation';
    expect(await use(token, elsewhere)).toBeUndefined();
    at.clock.advance(lifetime);
    expect(await use(token, purpose)).toBeUndefined();
  }
  expect(Object.values(PURPOSES).filter((lifetime) => lifetime > 3600)).toEqual([604_800, 604_800]);
});

test('ASVS 6.5.5: what signs somebody in by mail ends after ten minutes', async () => {
  const { token } = await make({ purpose: 'sign-in' });
  at.clock.advance(599);
  expect(await openLink(at.deps.db, 'sign-in', token, now())).toBeDefined();
  at.clock.advance(1);
  expect(await use(token, 'sign-in')).toBeUndefined();
});

test('fifty at once, at two servers: one has it', async () => {
  const { token } = await make();
  const used = await Promise.all(
    Array.from({ length: 50 }, (_, index) => use(token, 'reset-password', index % 2 === 0 ? at : other)),
  );
  expect(used.filter((link) => link !== undefined)).toHaveLength(1);
});

test('a code is good once, in the browser that asked, on its page', async () => {
  const { request, code } = await requested();
  expect(code).toMatch(/^\d{6}$/);
  expect(await type(request, code!, sha256('another browser'))).toBe('over');
  expect(await type((await requested()).request, code!)).not.toMatchObject({ matched: true });
  expect(await type('nothing', code!)).toBe('over');
  expect(await type(request, ` ${code!.slice(0, 3)} ${code!.slice(3)} `)).toMatchObject({ sub });
  expect(await type(request, code!)).toBe('over');
});

test('a link and its code are one: whoever used one cannot use the other', async () => {
  const first = await requested();
  expect(await use(first.token, 'sign-in')).toMatchObject({ sub });
  expect(await type(first.request, first.code!)).toBe('over');
  const second = await requested();
  expect(await type(second.request, second.code!)).toMatchObject({ sub });
  expect(await use(second.token, 'sign-in')).toBeUndefined();
});

test('after a few wrong codes the right one is of no use, also of fifty at once; the link is', async () => {
  const { request, code, token } = await requested();
  const tries = await Promise.all(
    Array.from({ length: 50 }, (_, index) => type(request, wrong(code), BROWSER, index % 2 === 0 ? at : other)),
  );
  expect(tries.filter((verdict) => verdict === 'wrong')).toHaveLength(CODE_TRIES - 1);
  expect(await type(request, code!)).toBe('over');
  expect(await use(token, 'sign-in')).toMatchObject({ attempts: CODE_TRIES });
});

test('links of a person can be made void, all or those of a purpose, and nobody else’s', async () => {
  const { sub: bob } = await aUser(at);
  const [reset, sign_in, of_bob] = [await make(), await make({ purpose: 'sign-in' }), await make({ sub: bob })];
  await transact(at.deps.db, (trx) => voidLinks(trx, sub, now(), ['reset-password']));
  expect(await use(reset.token)).toBeUndefined();
  expect(await openLink(at.deps.db, 'sign-in', sign_in.token, now())).toBeDefined();
  await transact(at.deps.db, (trx) => voidLinks(trx, sub, now()));
  expect(await use(sign_in.token, 'sign-in')).toBeUndefined();
  expect(await use(of_bob.token)).toBeDefined();
});

test('mail is asked for a few times by one name, and more often from one network', async () => {
  const by = (network: string) => ({ ip: '192.0.2.1', network, request_id: 'r' });
  const ask = (name: string, network = 'one') => countRequest(at.deps, 'reset', name, by(network), now());
  for (let asked = 0; asked < 5; asked += 1) await ask('Ada', `network ${asked}`);
  await expect(ask('ada', 'yet another')).rejects.toMatchObject({ error: 'too_many_requests', retry_after: 60 });
  for (let asked = 0; asked < 50; asked += 1) await ask(`name ${asked}`);
  await expect(ask('somebody')).rejects.toMatchObject({ error: 'too_many_requests' });
  await ask('somebody', 'two');
});
