import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLanes } from '../../src/sessions/lanes.ts';
import { deliverNotices } from '../../src/sessions/notices.ts';
import { testApp, testClock, type TestApp } from '../support/app.ts';
import { aClient, aUser, formTokenOf, signIn, TestBrowser } from '../support/fixtures.ts';
import { freePort } from '../support/server.ts';
import { anUpstream } from '../support/upstream-provider.ts';

const CALLBACK = '/upstream/work/callback';
const LOGOUT = '/upstream/work/backchannel-logout';

let ours: TestApp;
let theirs: TestApp;
let peer: Server;
let peerIssuer: string;
let ourIssuer: string;
let provider: Provider;
beforeAll(async () => {
  const clock = testClock();
  const ports = [await freePort(), await freePort(), await freePort()];
  const [us, them, others] = ports.map((port) => `localhost:${port}`) as [string, string, string];
  [ourIssuer, peerIssuer] = [`http://${us}`, `http://${others}`];
  ours = await testApp({ clock, config: { ISSUER: ourIssuer, OUTBOUND_ALLOW: [them, others] } });
  theirs = await testApp({ clock, config: { ISSUER: `http://${them}`, OUTBOUND_ALLOW: [us] } });
  await ours.app.listen({ host: 'localhost', port: ports[0]! });
  await theirs.app.listen({ host: 'localhost', port: ports[1]! });
  peer = createServer((request, response) => {
    if (request.url?.startsWith('/interaction/')) void finish(request, response);
    else void provider.callback()(request, response);
  });
  provider = new Provider(peerIssuer, {
    clients: [
      {
        client_id: 'us',
        client_secret: 'a secret that both know',
        redirect_uris: [`${ourIssuer}/upstream/peer/callback`],
        backchannel_logout_uri: `${ourIssuer}/upstream/peer/backchannel-logout`,
        backchannel_logout_session_required: true,
      },
    ],
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    scopes: ['openid', 'profile', 'email'],
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    // Its own refuses this machine.
    fetch: (url, options) => {
      const { dispatcher: _own, ...rest } = (options ?? {}) as RequestInit & { dispatcher?: unknown };
      return fetch(url, rest);
    },
  });
  peer.listen(ports[2], 'localhost');
  await once(peer, 'listening');
});
afterAll(async () => {
  peer.closeAllConnections();
  peer.close();
  await ours.close();
  await theirs.close();
});

type Answering = Parameters<ReturnType<Provider['callback']>>;
/** Signs in and agrees, whoever it is. */
async function finish(request: Answering[0], response: Answering[1]): Promise<void> {
  const grant = new provider.Grant({ accountId: 'ada', clientId: 'us' });
  grant.addOIDCScope('openid profile email');
  const done = { login: { accountId: 'ada' }, consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, done, { mergeWithLastSubmission: false });
}

/** Presses a provider's button on our sign-in page. */
async function leave(browser: TestBrowser, upstream: string): Promise<string> {
  const form_token = formTokenOf(await browser.get('/login'));
  const answer = await browser.post('/login', { upstream, form_token });
  return answer.headers.location!;
}

const isSignedIn = async (browser: TestBrowser): Promise<boolean> => (await browser.get('/account')).statusCode === 200;
const accounts = async (upstream: string): Promise<number> =>
  (await ours.deps.db.selectFrom('upstream_links').select('sub').where('upstream', '=', upstream).execute()).length;

test('with another Postern: an account is made, found again, and a sign-out there ends both sessions here', async () => {
  const client = await aClient(theirs, {
    redirect_uris: [`${ourIssuer}${CALLBACK}`],
    backchannel_logout_uri: `${ourIssuer}${LOGOUT}`,
    skip_consent: true,
  });
  const { client_id, client_secret } = client;
  const issuer = theirs.deps.config.ISSUER;
  await anUpstream(ours, { issuer, client_id, client_secret }, 'work', { registration: 'on' });
  const there = await signIn(theirs, await aUser(theirs));
  const here = [new TestBrowser(ours), new TestBrowser(ours)];
  for (const browser of here) {
    let answer = await there.get(await leave(browser, 'work'));
    while (answer.headers.location!.startsWith(issuer)) answer = await there.get(answer.headers.location!);
    await browser.get(answer.headers.location!);
    expect(await isSignedIn(browser)).toBe(true);
    expect(await accounts('work')).toBe(1);
  }
  const form_token = formTokenOf(await there.get('/logout'));
  await there.post('/logout', { action: 'logout', form_token });
  const lanes = createLanes();
  while ((await deliverNotices(theirs.deps, lanes)) > 0);
  expect(await Promise.all(here.map(isSignedIn))).toEqual([false, false]);
});

test('with oidc-provider: an account is made, found again, and a sign-out there ends the session here', async () => {
  const registered = { issuer: peerIssuer, client_id: 'us', client_secret: 'a secret that both know' };
  await anUpstream(ours, registered, 'peer', { registration: 'on' });
  const cookies = new Map<string, string>();
  const ask = async (address: string, form?: Record<string, string>): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const body = form && { method: 'POST', body: new URLSearchParams(form) };
    const answer = await fetch(new URL(address, peerIssuer), { redirect: 'manual', headers: { cookie }, ...body });
    for (const set of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
      cookies.set(name!, value!);
    }
    return answer;
  };
  const browser = new TestBrowser(ours);
  for (let times = 0; times < 2; times += 1) {
    let next = await leave(browser, 'peer');
    while (!next.startsWith(ourIssuer)) next = (await ask(next)).headers.get('location')!;
    await browser.get(next);
    expect(await isSignedIn(browser)).toBe(true);
    expect(await accounts('peer')).toBe(1);
  }
  const page = await (await ask('/session/end')).text();
  const [, xsrf] = /name="xsrf" value="([^"]+)"/.exec(page)!;
  const told = new Promise<unknown>((resolve) => {
    provider.once('backchannel.success', () => resolve('success'));
    provider.once('backchannel.error', (_context, error) => resolve(error));
    provider.once('server_error', (_context, error) => resolve(error));
  });
  const ended = await ask('/session/end/confirm', { xsrf: xsrf!, logout: 'yes' });
  expect(ended.status, await ended.text()).toBe(303);
  expect(await told).toBe('success');
  expect(await isSignedIn(browser)).toBe(false);
});
