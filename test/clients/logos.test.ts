import { createHash } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fetchLogos } from '../../src/clients/logos.ts';
import { removeClient } from '../../src/clients/register.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { type AClient, aClient, aUser, authorizationUrl, BY, changeClient, signIn } from '../support/fixtures.ts';
import { GIF, PNG, pngOf } from '../support/images.ts';

let at: TestApp;
let server: Server;
let origin: string;
let answer: RequestListener;
let hits = 0;

const picture =
  (image: Buffer, type = 'image/png'): RequestListener =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': type }).end(image);

beforeAll(async () => {
  server = createServer((request, response) => {
    hits += 1;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  origin = `http://${host}`;
  at = await testApp({ config: { OUTBOUND_ALLOW: [host], REGISTRATION: 'open' } });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await at.close();
});
beforeEach(async () => {
  await at.deps.db.deleteFrom('client_logos').execute();
  answer = picture(PNG);
  hits = 0;
});

const fetchAll = async (): Promise<void> => {
  while ((await fetchLogos(at.deps)) > 0);
};
const update = (client: AClient, logo_uri: string | undefined) => changeClient(at, client, { logo_uri });
const rowOf = (table: 'clients' | 'client_logos', { client_id }: Pick<AClient, 'client_id'>) =>
  at.deps.db.selectFrom(table).selectAll().where('client_id', '=', client_id).executeTakeFirst();
const hashOf = (image: Buffer): string => createHash('sha256').update(image).digest('base64url');
const shownOf = async (client: AClient): Promise<unknown> => (await rowOf('clients', client))!.logo_hash;

/** The consent page of a client, once the directory has seen what changed. */
async function consentPageOf(client: AClient): Promise<string> {
  at.deps.directory.clear();
  const browser = await signIn(at, await aUser(at));
  const page = await browser.get(authorizationUrl('https://id.example.test', client));
  return (await browser.get(page.headers.location!)).body;
}

describe('a logo is shown only once we fetched it, and by us', () => {
  test('registered, fetched beside requests, and served with what keeps it a picture', async () => {
    const client = await aClient(at, { logo_uri: `${origin}/logo.png` });
    expect(hits).toBe(0);
    expect(await consentPageOf(client)).not.toContain('<img');
    await fetchAll();
    expect(hits).toBe(1);
    const page = await consentPageOf(client);
    expect(page).toContain(`<img class="logo" src="https://id.example.test/logo/${hashOf(PNG)}" alt=""`);
    expect(page).not.toContain(origin);

    const logo = await at.app.inject(`/logo/${hashOf(PNG)}`);
    expect(logo.rawPayload).toEqual(PNG);
    expect(logo.headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(logo.headers).not.toHaveProperty('set-cookie');
    await transact(at.deps.db, (trx) => removeClient(trx, client.client_id, BY, at.clock.now()));
    expect((await at.app.inject(`/logo/${hashOf(PNG)}`)).statusCode).toBe(404);
  });

  test.each(['x', 'a'.repeat(43), '..%2f..%2fetc', '%00'])('there is nothing at /logo/%s', async (name) => {
    expect((await at.app.inject(`/logo/${name}`)).statusCode).toBe(404);
  });

  test('of two processes, one fetches', async () => {
    await aClient(at, { logo_uri: origin });
    await Promise.all([fetchLogos(at.deps), fetchLogos(at.deps), fetchLogos(at.deps)]);
    expect(hits).toBe(1);
  });

  test('it goes when the client names another or none, and comes back by a fetch', async () => {
    const client = await aClient(at, { logo_uri: `${origin}/one` });
    await fetchAll();
    expect(await shownOf(client)).toBe(hashOf(PNG));
    answer = picture(GIF, 'image/gif');
    await update(client, `${origin}/two`);
    expect(await shownOf(client)).toBeNull();
    await fetchAll();
    expect(await shownOf(client)).toBe(hashOf(GIF));
    await update(client, undefined);
    expect([await shownOf(client), await rowOf('client_logos', client)]).toEqual([null, undefined]);
  });

  test('what was fetched for an address that the client left meanwhile is not kept', async () => {
    const client = await aClient(at, { logo_uri: `${origin}/old` });
    answer = (request, response) => {
      void update(client, `${origin}/new`).then(() => picture(PNG)(request, response));
    };
    await fetchLogos(at.deps);
    expect(await shownOf(client)).toBeNull();
    expect(await rowOf('client_logos', client)).toMatchObject({ attempts: 0, hash: null, last_failure: null });
    answer = picture(GIF, 'image/gif');
    await fetchAll();
    expect(await shownOf(client)).toBe(hashOf(GIF));
  });

  test('it is fetched again after a week; what stays away is dropped after some tries, until somebody saves the client', async () => {
    const client = await aClient(at, { logo_uri: origin });
    await fetchAll();
    at.clock.advance(6 * 86_400);
    await fetchAll();
    expect(hits).toBe(1);
    answer = (_request, response) => response.writeHead(500).end();
    at.clock.advance(86_401);
    await fetchAll();
    // A failure now and then is no reason to take it away.
    expect([hits, await shownOf(client)]).toEqual([2, hashOf(PNG)]);
    expect(await rowOf('client_logos', client)).toMatchObject({
      last_failure: expect.stringContaining('500'),
    });
    for (let tries = 0; tries < 20; tries += 1) {
      at.clock.advance(3 * 3600);
      await fetchAll();
    }
    expect([hits, await shownOf(client)]).toEqual([9, null]);
    expect(await rowOf('client_logos', client)).toMatchObject({ next_at: null, image: null });
    answer = picture(PNG);
    await update(client, origin);
    await fetchAll();
    expect([hits, await shownOf(client)]).toEqual([10, hashOf(PNG)]);
  });
});

describe('what is no logo is not kept', () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>');
  test.each<[string, RequestListener]>([
    ['an SVG', picture(svg, 'image/svg+xml')],
    ['an SVG that says it is a PNG', picture(svg)],
    ['HTML', picture(Buffer.from('<!doctype html>'), 'text/html')],
    ['a PNG that says it is HTML', picture(PNG, 'text/html')],
    ['more than 64 KiB', picture(Buffer.concat([PNG, Buffer.alloc(65_536)]))],
    ['more pixels than a logo has', picture(pngOf(60_000, 60_000))],
    ['no pixels', picture(pngOf(0, 1))],
    [
      'a status that is not 200',
      (_request, response) => response.writeHead(404, { 'content-type': 'image/png' }).end(PNG),
    ],
    ['a redirect', (_request, response) => response.writeHead(302, { location: `${origin}/elsewhere` }).end()],
  ])('%s', async (_what, listener) => {
    answer = listener;
    const client = await aClient(at, { logo_uri: origin });
    await fetchLogos(at.deps);
    expect([hits, await shownOf(client)]).toEqual([1, null]);
    expect(await rowOf('client_logos', client)).toMatchObject({ attempts: 1, last_failure: expect.any(String) });
  });

  test('a private address that a stranger registered is never asked', async () => {
    const registered = await at.app.inject({
      method: 'POST',
      url: '/register',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ redirect_uris: ['https://my.example/cb'], logo_uri: origin }),
    });
    expect(registered.statusCode).toBe(201);
    await fetchLogos(at.deps);
    expect(hits).toBe(0);
    expect(await rowOf('client_logos', registered.json())).toMatchObject({
      last_failure: 'the address could not be fetched',
    });
  });
});
