import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import {
  createOutbound as makeOutbound,
  OutboundError,
  type Outbound,
  type OutboundOptions,
} from '../../src/platform/outbound.ts';

/** As for addresses that an operator named. */
const createOutbound = (options: OutboundOptions): Outbound => {
  const fetch = makeOutbound(options);
  return (url, request) => fetch(url, { trusted: true, ...request });
};

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server on loopback; returns its `host:port` and how many requests reached it. */
async function target(answer: RequestListener): Promise<{ host: string; hits: () => number }> {
  let hits = 0;
  const server = createServer((request, response) => {
    hits += 1;
    answer(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, hits: () => hits };
}

const json: RequestListener = (_request, response) =>
  response.setHeader('content-type', 'application/json; charset=utf-8').end('{"ok":true}');

/** A resolver that gives these addresses, whatever is asked. */
const resolvesTo = (...addresses: string[]) =>
  ((_name: string, _options: unknown, done: (error: null, found: object[]) => void) => {
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  }) as never;

const expectRefused = async (fetch: Outbound, url: string, cause = ''): Promise<void> => {
  const error = await fetch(url).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OutboundError);
  // One error for everything: what it says must not tell a closed port from a filtered one.
  expect((error as Error).message).toBe('the address could not be fetched');
  expect(String((error as Error).cause)).toContain(cause);
};

test('reads what an allowed host answers, with its media type', async () => {
  const { host } = await target(json);
  const fetch = createOutbound({ allow: [host] });
  expect(await fetch(`http://${host}/`)).toMatchObject({
    status: 200,
    media_type: 'application/json',
    text: '{"ok":true}',
  });
});

test('gives the bytes as they came', async () => {
  const image = Buffer.from([0x89, 0x50, 0xff, 0x00, 0xc3, 0x28]);
  const { host } = await target((_request, response) => response.end(image));
  const { bytes } = await createOutbound({ allow: [host] })(`http://${host}/`);
  expect(bytes).toEqual(image);
});

test.each([
  'https://127.0.0.1/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://100.64.0.1/',
  'https://0.0.0.0/',
  'https://0x7f000001/',
  'https://2130706433/',
  'https://[fc00::1]/',
  'https://[fe80::1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://224.0.0.1/',
  'http://example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'https://user:secret@example.com/',
  'not a url',
])('refuses %s before a connection is made', async (url) => {
  await expectRefused(createOutbound({ allow: [] }), url);
});

test.each(['[::127.0.0.1]', '[::10.0.0.1]', '[4000::1]', '[fec0::1]', '[5f00::1]', '[64:ff9b:1::a00:1]', '[100::1]'])(
  'refuses https://%s/, which is not given out as a public address',
  async (host) => {
    // By us, and not because nobody can be reached there from here.
    await expectRefused(createOutbound({ allow: [] }), `https://${host}/`, 'is not a public address');
  },
);

test.each([['127.0.0.1'], ['10.1.2.3'], ['::127.0.0.1'], ['::ffff:192.168.0.1'], ['93.184.216.34', '127.0.0.1'], []])(
  'refuses a name that resolves to %s',
  async (...addresses) => {
    await expectRefused(createOutbound({ allow: [], resolve: resolvesTo(...addresses) }), 'https://innocent.example/');
  },
);

test('checks the address at every connection, so a name that is rebound reaches nothing', async () => {
  const { host, hits } = await target(json);
  let asked = 0;
  const rebinding = ((_name: string, _options: unknown, done: (error: null, found: object[]) => void) => {
    asked += 1;
    done(null, [{ address: '127.0.0.1', family: 4 }]);
  }) as never;
  await expectRefused(
    createOutbound({ allow: [], resolve: rebinding }),
    `https://rebound.example:${host.split(':')[1]}/`,
  );
  expect([asked, hits()]).toEqual([1, 0]);
});

test('follows no redirect', async () => {
  const secret = await target(json);
  const { host } = await target((_request, response) =>
    response.writeHead(302, { location: `http://${secret.host}/` }).end(),
  );
  await expectRefused(createOutbound({ allow: [host, secret.host] }), `http://${host}/`);
  expect(secret.hits()).toBe(0);
});

test('stops reading an endless answer', async () => {
  const { host } = await target((_request, response) => {
    const chunk = 'a'.repeat(16_384);
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  await expectRefused(createOutbound({ allow: [host] }), `http://${host}/`);
});

test('stops waiting for an answer that does not come, and for one that drips', async () => {
  const silent = await target(() => undefined);
  const dripping = await target((_request, response) => {
    const timer = setInterval(() => response.write('a'), 20);
    response.on('close', () => clearInterval(timer));
  });
  const fetch = createOutbound({ allow: [silent.host, dripping.host], timeout: 150 });
  await expectRefused(fetch, `http://${silent.host}/`);
  await expectRefused(fetch, `http://${dripping.host}/`);
});

test('the allow-list is for what an operator named: an address that a stranger registered stays out of reach', async () => {
  const { host, hits } = await target(json);
  await expectRefused(makeOutbound({ allow: [host] }), `http://${host}/`);
  expect(hits()).toBe(0);
});
