/** How pages look: the theme of the server, and that of a client's pages. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GROUNDS, leastContrast } from '../../../src/protocol/contrast.ts';
import { stylesheet } from '../../../src/views/style.ts';
import { testApp, type TestApp } from '../../support/app.ts';
import { aClient, TestBrowser } from '../../support/fixtures.ts';
import { GIF, PNG, pngOf } from '../../support/images.ts';
import { anOperator, type Operator } from '../../support/operator.ts';
import { open } from '../../support/pages.ts';

let at: TestApp;
let operator: Operator;
beforeAll(async () => {
  at = await testApp();
  operator = await anOperator(at);
});
afterAll(() => at.close());

const dataUrl = (bytes: Buffer, type = 'image/png'): string => `data:${type};base64,${bytes.toString('base64')}`;
const theme = {
  name: 'Acme <Identity>',
  color: '#0b5d3b',
  color_dark: '#7fd6ae',
  logo: dataUrl(PNG),
  policy_uri: 'https://acme.example.test/privacy',
  tos_uri: 'https://acme.example.test/terms',
};
const write = async (path: string, body: object) => {
  const answer = await operator.send('PUT', path, body, { 'if-match': '*' });
  at.deps.directory.clear();
  return answer;
};

test('a theme of the server is on every page: name, colours by day and by night, links, and a logo from here', async () => {
  const made = await operator.send('PUT', '/settings/theme', theme);
  expect([made.statusCode, made.json()]).toEqual([201, theme]);
  at.deps.directory.clear();
  const { body } = await new TestBrowser(at).get('/login');
  expect(body).toContain('<b>Acme &lt;Identity&gt;</b>');
  expect(body).toContain(':root{--strong:#0b5d3b;--link:#0b5d3b;');
  expect(body).toContain('@media (prefers-color-scheme:dark){:root{--strong:#7fd6ae;');
  expect(body).toContain('href="https://acme.example.test/privacy"');
  const src = /<img class="logo" src="https:\/\/id\.example\.test(\/logo\/[\w-]{43})"/.exec(body)![1]!;
  const logo = await at.app.inject(src);
  expect([logo.statusCode, logo.headers['content-type'], logo.rawPayload.equals(PNG)]).toEqual([
    200,
    'image/png',
    true,
  ]);
  expect(body).not.toContain('data:image/png');
});

test('what was read can be sent back, a patch changes what it names, and each change is an event without the picture', async () => {
  const read = await operator.send('GET', '/settings/theme');
  const same = await operator.send('PUT', '/settings/theme', read.json(), { 'if-match': read.headers.etag as string });
  expect(same.json()).toEqual(theme);
  const patched = await operator.send('PATCH', '/settings/theme', { name: 'Acme' }, { 'if-match': '*' });
  expect(patched.json()).toEqual({ ...theme, name: 'Acme' });
  const events = await at.deps.db.selectFrom('audit_events').selectAll().where('event', '=', 'theme_changed').execute();
  expect(events.at(-1)!.detail).toEqual({ before: { name: theme.name }, after: { name: 'Acme' } });
  expect(JSON.stringify(events)).not.toContain('base64');
});

test('a client’s pages wear its own, and what it does not say is the server’s', async () => {
  const [client, other] = [await aClient(at), await aClient(at)];
  const path = `/clients/${client.client_id}/theme`;
  expect((await operator.send('PUT', path, { color: '#7a1f5c' })).statusCode).toBe(201);
  at.deps.directory.clear();
  const { body } = (await open(new TestBrowser(at), client)).response;
  expect(body).toContain('--strong:#7a1f5c');
  expect(body).toContain('--strong:#7fd6ae');
  expect((await open(new TestBrowser(at), other)).response.body).toContain('--strong:#0b5d3b');
  expect((await operator.send('DELETE', path)).statusCode).toBe(204);
  expect((await operator.send('PUT', '/clients/nobody/theme', {})).statusCode).toBe(404);
  await write(path, { name: 'Gone with its client' });
  await operator.send('DELETE', `/clients/${client.client_id}`);
  expect(await at.deps.db.selectFrom('themes').selectAll().where('client_id', '=', client.client_id).execute()).toEqual(
    [],
  );
});

test.each([
  ['color', '#f4b942', 'contrast'],
  ['color', '#7fd6ae', 'contrast'],
  ['color_dark', '#1d3157', 'contrast'],
  ['color', 'red', 'colour'],
  ['color', '#0B5D3B', 'colour'],
  ['color', '#0b5d3b;}*{display:none', 'colour'],
  ['logo', 'https://acme.example.test/logo.png', 'data URL'],
  ['logo', dataUrl(Buffer.from('<svg onload="alert(1)"/>'), 'image/svg+xml'), 'data URL'],
  ['logo', dataUrl(pngOf(4096, 1)), 'data URL'],
  ['logo', dataUrl(Buffer.concat([GIF, Buffer.alloc(70_000)])), 'data URL'],
  ['policy_uri', 'javascript:alert(1)', 'URL'],
  ['name', '', ''],
])('WCAG 2.2 §1.4.3 and our own rules: %s %s is refused, and why is said', async (member, value, why) => {
  const answer = await operator.send('PUT', '/settings/theme', { [member]: value }, { 'if-match': '*' });
  expect(answer.statusCode).toBe(400);
  const { errors } = answer.json<{ errors: Array<{ pointer: string; detail: string }> }>();
  expect(errors[0]!.pointer).toBe(`/${member}`);
  expect(errors[0]!.detail).toContain(why);
});

test('colours are measured against what pages really have, and those of no theme are legible themselves', () => {
  const [day = '', night = ''] = String(stylesheet).split('@media (prefers-color-scheme:dark)');
  const variable = (css: string, name: string) => new RegExp(`--${name}:(#[0-9a-f]{6})`).exec(css)?.[1] ?? '';
  expect([variable(day, 'panel'), variable(day, 'soft')]).toEqual(GROUNDS.color);
  expect([variable(night, 'panel'), variable(night, 'soft')]).toEqual(GROUNDS.color_dark);
  expect(leastContrast('color', variable(day, 'link'))).toBeGreaterThan(4.5);
  expect(leastContrast('color_dark', variable(night, 'link'))).toBeGreaterThan(4.5);
  expect(leastContrast('color', '#000000')).toBeCloseTo(18.89, 1);
});

test('development tries a theme at /dev/theme, and only development', async () => {
  expect((await new TestBrowser(at).get('/dev/theme')).statusCode).toBe(404);
});
