/** Two server processes on one database, and clients that send the same thing fifty times at once (races: ). */
import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aConsentedClient, deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { authorizationUrl, aVerifier, PASSWORD, type AClient } from '../support/fixtures.ts';
import { formTokenIn, postTo, summary, Visitor, type Answer } from '../support/visitor.ts';

const RACERS = 50;
const ROUNDS = 20;

stopServersAfterwards();

/** Two processes, and as many connections to each as racers, so that nobody queues before the race. */
class Racetrack {
  readonly deployment: Deployment;
  readonly client: AClient;
  readonly visitor: Visitor;
  readonly username: string;
  readonly #pools: Pool[];

  constructor(deployment: Deployment, { client, visitor, username }: Awaited<ReturnType<typeof aConsentedClient>>) {
    this.deployment = deployment;
    this.client = client;
    this.visitor = visitor;
    this.username = username;
    this.#pools = deployment.servers.map(({ origin }) => new Pool(origin, { connections: RACERS / 2 }));
  }

  static async open(env: Record<string, string> = {}): Promise<Racetrack> {
    const deployment = await deploy({ processes: 2, env });
    return new Racetrack(deployment, await aConsentedClient(deployment));
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.close()));
    await this.deployment.close();
  }

  /** The same request from all racers at once, every other one to the other process. */
  race(fields: Record<string, string>): Promise<Answer[]> {
    const { client_id, client_secret } = this.client;
    const body = new URLSearchParams({ ...fields, client_id, client_secret }).toString();
    return Promise.all(
      Array.from({ length: RACERS }, async (_, index): Promise<Answer> => {
        const answer = await this.#pools[index % this.#pools.length]!.request({
          method: 'POST',
          path: '/token',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body,
        });
        const json = (await answer.body.json()) as Answer['json'];
        return { status: answer.statusCode, headers: answer.headers as Answer['headers'], json };
      }),
    );
  }

  /** What redeems a fresh code. */
  async redemption(): Promise<Record<string, string>> {
    const { code_verifier, code_challenge } = aVerifier();
    const challenge = { code_challenge, code_challenge_method: 'S256', scope: 'openid email offline_access' };
    const code = await this.visitor.code(this.client, challenge);
    return { grant_type: 'authorization_code', code, code_verifier, redirect_uri: this.client.redirect_uri };
  }

  async refreshToken(): Promise<string> {
    return String((await this.post('/token', await this.redemption())).json['refresh_token']);
  }

  post(path: string, fields: Record<string, string>): Promise<Answer> {
    const { client_id, client_secret } = this.client;
    return postTo(this.deployment.issuer + path, { ...fields, client_id, client_secret });
  }

  async isActive(token: unknown): Promise<unknown> {
    return (await this.post('/introspect', { token: String(token) })).json['active'];
  }
}

const successes = (answers: Answer[]): Answer[] => answers.filter(({ status }) => status === 200);
/** Every answer, counted: readable when a round goes wrong. */
const tally = (answers: Answer[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const what of answers.map(summary)) counts[what] = (counts[what] ?? 0) + 1;
  return counts;
};

/** One winner at most, and exact errors for the rest. */
function expectOneWinner(answers: Answer[]): void {
  expect(tally(answers)).toEqual({ 200: 1, '400 invalid_grant': RACERS - 1 });
}

describe('strict, as it comes', () => {
  let track: Racetrack;
  beforeAll(async () => {
    track = await Racetrack.open({ REFRESH_TOKEN_RETRY_WINDOW: '0' });
  });
  afterAll(() => track?.close());

  test('specification §States: a code redeemed 50 times at once over two processes gives tokens once, and these die', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await track.race(await track.redemption());
      expectOneWinner(answers);
      // RFC 6749 §4.1.2: the other 49 were replays by its own client.
      const [winner] = successes(answers);
      expect(await track.isActive(winner!.json['access_token'])).toBe(false);
      expect(await track.isActive(winner!.json['refresh_token'])).toBe(false);
    }
  });

  test('specification §States: a refresh token used 50 times at once rotates once, and its family is dead afterwards', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const refresh_token = await track.refreshToken();
      const answers = await track.race({ grant_type: 'refresh_token', refresh_token });
      expectOneWinner(answers);
      const [winner] = successes(answers);
      expect(await track.isActive(winner!.json['access_token'])).toBe(false);
      const successor = String(winner!.json['refresh_token']);
      const again = await track.post('/token', { grant_type: 'refresh_token', refresh_token: successor });
      expect([again.status, again.json['error']]).toEqual([400, 'invalid_grant']);
    }
  });

  test('a refresh that races its revocation leaves nothing alive', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const refresh_token = await track.refreshToken();
      const [refreshed, revoked] = await Promise.all([
        track.post('/token', { grant_type: 'refresh_token', refresh_token }),
        track.post('/revoke', { token: refresh_token }),
      ]);
      expect(revoked.status).toBe(200);
      expect([200, 400]).toContain(refreshed.status);
      if (refreshed.status !== 200) continue;
      expect(await track.isActive(refreshed.json['access_token'])).toBe(false);
      expect(await track.isActive(refreshed.json['refresh_token'])).toBe(false);
    }
  });

  test('one consent page approved 20 times at once gives one code, and the others are told so', async () => {
    const { visitor, client, deployment } = track;
    const opened = await visitor.get(authorizationUrl(deployment.issuer, client, { prompt: 'consent' }));
    const page = opened.headers.get('location')!;
    const form = { form_token: formTokenIn(await (await visitor.get(page)).text()), action: 'approve' };
    const twenty = <T>(work: (origin: string) => Promise<T>): Promise<T[]> =>
      Promise.all(Array.from({ length: 20 }, (_, index) => work(deployment.servers[index % 2]!.origin)));

    const posted = await twenty((origin) => visitor.post(page.replace(deployment.issuer, origin), form));
    expect(new Set(posted.map(({ status }) => status))).toEqual(new Set([303]));
    const onward = posted[0]!.headers.get('location')!;
    const answers = await twenty((origin) => visitor.get(onward.replace(deployment.issuer, origin)));
    const given = answers.filter(({ headers }) => headers.get('location')?.startsWith(client.redirect_uri));
    expect(given.map(({ status }) => status)).toEqual([302]);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(19);
  });

  test('a sign-in form sent 5 times at once signs in, without an error of ours', async () => {
    const { deployment, username } = track;
    const visitor = new Visitor(deployment.issuer);
    const form_token = formTokenIn(await (await visitor.get('/login')).text());
    const form = { username, password: PASSWORD, form_token };
    const answers = await Promise.all(Array.from({ length: 5 }, () => visitor.post('/login', form)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303]);
    expect((await visitor.get('/account')).status).toBe(200);
  });
});

describe('with the retry window as it is by default', () => {
  let track: Racetrack;
  beforeAll(async () => {
    track = await Racetrack.open();
  });
  afterAll(() => track?.close());

  test('50 refreshes at once over two processes all carry the same successor, which works', async () => {
    let refresh_token = await track.refreshToken();
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await track.race({ grant_type: 'refresh_token', refresh_token });
      expect(tally(answers)).toEqual({ 200: RACERS });
      const given = new Set(answers.map(({ json }) => json['refresh_token']));
      expect(given.size).toBe(1);
      refresh_token = String([...given][0]);
    }
    const last = await track.post('/token', { grant_type: 'refresh_token', refresh_token });
    expect(last.status).toBe(200);
    expect(await track.isActive(last.json['access_token'])).toBe(true);
  });
});
