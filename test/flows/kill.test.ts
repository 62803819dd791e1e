/** The server is killed with SIGKILL between the claim and the answer, many times. */
import { beforeAll, expect, test } from 'vitest';
import { aConsentedClient, deploy, stopServersAfterwards, type Deployment } from '../support/deployment.ts';
import { aVerifier, type AClient } from '../support/fixtures.ts';
import { startServer } from '../support/server.ts';
import { postTo, summary, type Answer, type Visitor } from '../support/visitor.ts';

const AT_ONCE = 16;
/** How many answers each kill waits for; the first one waits for none. */
const KILLS = [0, 1, 4, 7, 11];

let deployment: Deployment;
let client: AClient;
let visitor: Visitor;
stopServersAfterwards();
beforeAll(async () => {
  deployment = await deploy();
  ({ client, visitor } = await aConsentedClient(deployment));
});

type Fields = Record<string, string>;

const post = (path: string, fields: Fields): Promise<Answer> => {
  const { client_id, client_secret } = client;
  return postTo(deployment.issuer + path, { ...fields, client_id, client_secret });
};

const isActive = async (token: unknown): Promise<unknown> =>
  (await post('/introspect', { token: String(token) })).json['active'];

async function redemption(): Promise<Fields> {
  const { code_verifier, code_challenge } = aVerifier();
  const code = await visitor.code(client, { code_challenge, code_challenge_method: 'S256' });
  return { grant_type: 'authorization_code', code, code_verifier, redirect_uri: client.redirect_uri };
}

async function refreshing(): Promise<Fields> {
  const { json } = await post('/token', await redemption());
  return { grant_type: 'refresh_token', refresh_token: String(json['refresh_token']) };
}

/** Sends all at once, kills the server when `after` of them are answered, and starts it again. */
async function killedAfter(after: number, requests: Fields[]): Promise<Array<Answer | undefined>> {
  let answered = 0;
  let kill!: () => void;
  const due = new Promise<void>((resolve) => (kill = resolve));
  const sent = requests.map(async (fields) => {
    const answer = await post('/token', fields).catch(() => undefined);
    if ((answered += 1) >= after) kill();
    return answer;
  });
  if (after > 0) await due;
  const [server] = deployment.servers;
  await server!.kill();
  const answers = await Promise.all(sent);
  deployment.servers[0] = await startServer({ port: Number(new URL(deployment.issuer).port), env: deployment.env });
  return answers;
}

const ANSWERED = 'answered 200, then 400 invalid_grant, 0 tokens alive';
const UNUSED = 'cut off, then 200, 2 tokens alive';
/** Used, and the answer lost. */
const LOST = 'cut off, then 400 invalid_grant, 0 tokens alive';
/** RFC 9700 §4.14.2, within the retry window: whoever asks again is given what was given, and never something else. */
const AGAIN = 'answered 200, then 200 with the same refresh token, 4 tokens alive';

/** What became of a request: before the kill, when it is tried again, and of the tokens that were given. */
async function outcome(first: Answer | undefined, fields: Fields): Promise<string> {
  const retry = await post('/token', fields);
  const given = [first, retry].flatMap((answer) => [answer?.json['access_token'], answer?.json['refresh_token']]);
  const alive = await Promise.all(given.filter((token) => token !== undefined).map(isActive));
  const before = first ? `answered ${first.status}` : 'cut off';
  const [given_first, given_then] = [first, retry].map((answer) => answer?.json['refresh_token']);
  const same = given_first !== undefined && given_first === given_then ? ' with the same refresh token' : '';
  return `${before}, then ${summary(retry)}${same}, ${alive.filter((active) => active === true).length} tokens alive`;
}

test.each([
  ['code', redemption, ANSWERED, [LOST]],
  // Also one whose answer was lost, and which may have been used: its client has it, or its successor, and no alarm.
  ['refresh token', refreshing, AGAIN, []],
] as const)(
  'specification §States: after a kill every %s is either unused, and works, or used, and gives nothing else that lives',
  async (_what, make, answered, lost) => {
    const outcomes = new Map<string, number>();
    for (const after of KILLS) {
      const requests = await Promise.all(Array.from({ length: AT_ONCE }, make));
      const before = await killedAfter(after, requests);
      const told = await Promise.all(requests.map((fields, index) => outcome(before[index], fields)));
      for (const each of told) outcomes.set(each, (outcomes.get(each) ?? 0) + 1);
    }
    expect([answered, UNUSED, ...lost]).toEqual(expect.arrayContaining([...outcomes.keys()]));
    // Otherwise the kills came too early or too late to show anything.
    expect([...outcomes.keys()]).toEqual(expect.arrayContaining([answered, UNUSED]));
    const grants = await deployment.test.deps.db
      .selectFrom('grants')
      .innerJoin('authorization_codes', 'authorization_codes.grant_id', 'grants.grant_id')
      .select('grants.grant_id')
      .where('authorization_codes.used_at', 'is not', null)
      .where('grants.revoked_at', 'is', null)
      .where('grants.grant_id', 'not in', (query) =>
        query.selectFrom('refresh_tokens').select('refresh_tokens.grant_id'),
      )
      .execute();
    expect(grants, 'grants whose code is used and which have no refresh token').toEqual([]);
  },
);
