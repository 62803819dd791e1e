/**
 * Honest clients: they refresh in chains, redeem codes, introspect and revoke, come again after `503 Retry-After` with what
 * they have, and hold every answer against the ones before.
 */
import { postTo, summary, type Answer, type Visitor } from '../support/visitor.ts';
import { CHALLENGE, REDIRECT_URI, SCOPE, VERIFIER } from '../../bench/shared.ts';
import type { Client } from '../../bench/world.ts';
import type { Ledger, Outcome } from './ledger.ts';

export interface Traffic {
  /** Resolves once every chain that lives has been given tokens again. */
  served(): Promise<void>;
  /** Lets the clients go on until each has had an answer of 200 again, and holds what they own against the server. */
  settle(): Promise<void>;
}

export interface Field {
  /** Every one of them is asked in turn. */
  origins: readonly string[];
  client: Client;
  visitor: Visitor;
  ledger: Ledger;
  chains: number;
}

const THINKING_MS = 60;
/** A client that has no answer after this many milliseconds goes and comes again. */
const PATIENCE_MS = 6000;
/** After a fault everybody has to be served again within this time. */
const SETTLE_MS = 25_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts them; each chain and each redeemer is one loop. Rejects when there is no authorization to begin with. */
export async function startTraffic(field: Field): Promise<Traffic> {
  const state = { isOver: false };
  const chains = await Promise.all(Array.from({ length: field.chains }, async (_, n) => new Chain(field, n).begin()));
  const redeemer = new Redeemer(field);
  const loops = [
    ...chains.map((chain) => chain.run(state)),
    redeemer.run(state),
    watch(field, chains, redeemer, state),
  ];
  return {
    async served() {
      await Promise.all(chains.map((chain) => chain.served()));
    },
    async settle() {
      state.isOver = true;
      await Promise.all(loops);
      await Promise.all(chains.map((chain) => chain.settle()));
      await redeemer.settle();
    },
  };
}

interface State {
  isOver: boolean;
}

let turn = 0;

async function ask({ origins, client, ledger }: Field, path: string, fields: Record<string, string>): Promise<Outcome> {
  const origin = origins[(turn += 1) % origins.length]!;
  const began = performance.now();
  const sent = postTo(origin + path, { ...fields, ...client });
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE_MS, undefined).unref());
  const answer = await Promise.race([sent.catch(() => undefined), late]);
  if (answer === undefined) return ledger.note(path, began, { kind: 'unknown' });
  return ledger.note(path, began, outcomeOf(answer, path, ledger));
}

function outcomeOf(answer: Answer, path: string, ledger: Ledger): Outcome {
  if (answer.status !== 503) return { kind: 'answered', answer };
  const seconds = Number(answer.headers['retry-after']);
  if (!(seconds > 0)) ledger.contradict(`${path} answered 503 without Retry-After`);
  return { kind: 'away', retryAfterMs: (seconds > 0 ? seconds : 1) * 1000 };
}

/** How long a client waits before it comes again. */
const pauseAfter = (outcome: Outcome): number => (outcome.kind === 'away' ? outcome.retryAfterMs : 250);

/** Comes again until there is an answer that is one. */
async function insist(
  field: Field,
  path: string,
  fields: Record<string, string>,
): Promise<{ answer: Answer; wasUnknown: boolean }> {
  let wasUnknown = false;
  for (const end = performance.now() + SETTLE_MS; ;) {
    const outcome = await ask(field, path, fields);
    if (outcome.kind === 'answered') return { answer: outcome.answer, wasUnknown };
    // A 503 of a commit that did not answer leaves as much unknown as a broken connection does.
    wasUnknown = true;
    if (performance.now() > end) {
      field.ledger.contradict(`${path} was not served again within ${SETTLE_MS / 1000} s`);
      return { answer: { status: 0, headers: {}, json: {} }, wasUnknown };
    }
    await sleep(pauseAfter(outcome));
  }
}

/** A code of a person who is signed in; undefined while the server is away. */
async function codeOf({ visitor, client }: Field): Promise<string | undefined> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: REDIRECT_URI,
    scope: SCOPE,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
  });
  const answer = await visitor.get(`${visitor.issuer}/authorize?${query.toString()}`).catch(() => undefined);
  await answer?.body?.cancel();
  const location = answer?.headers.get('location');
  return (location && new URL(location).searchParams.get('code')) || undefined;
}

const redemption = (code: string): Record<string, string> => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: REDIRECT_URI,
  code_verifier: VERIFIER,
});

/** One application that keeps somebody signed in: it refreshes with what it was given last. */
class Chain {
  readonly #field: Field;
  readonly #name: string;
  #refresh_token = '';
  #isDead = false;
  #isServed = Promise.withResolvers<void>();
  access_token = '';

  constructor(field: Field, n: number) {
    this.#field = field;
    this.#name = `chain ${n + 1}`;
  }

  async begin(): Promise<this> {
    const code = await codeOf(this.#field);
    if (code === undefined) throw new Error('nobody is signed in: /authorize gave no code');
    const { answer } = await insist(this.#field, '/token', redemption(code));
    if (!this.#take(answer)) throw new Error(`the first code gave ${summary(answer)}`);
    return this;
  }

  async run(state: State): Promise<void> {
    while (!state.isOver && !this.#isDead) {
      const outcome = await this.#ask();
      await sleep(outcome.kind === 'answered' ? THINKING_MS : pauseAfter(outcome));
    }
  }

  /** Given tokens once more from now on, or dead. */
  served(): Promise<void> {
    this.#isServed = Promise.withResolvers();
    if (this.#isDead) this.#isServed.resolve();
    return this.#isServed.promise;
  }

  /** It still refreshes, and what it was given is known. */
  async settle(): Promise<void> {
    if (this.#isDead) return;
    const { answer } = await insist(this.#field, '/token', this.#refreshing());
    if (!this.#take(answer)) return this.#die(answer);
    const introspected = await insist(this.#field, '/introspect', { token: this.access_token });
    if (introspected.answer.json['active'] !== true) {
      this.#field.ledger.contradict(`a token that was given is not known: ${this.#name}`);
    }
  }

  async #ask(): Promise<Outcome> {
    const outcome = await ask(this.#field, '/token', this.#refreshing());
    if (outcome.kind === 'answered' && !this.#take(outcome.answer)) this.#die(outcome.answer);
    return outcome;
  }

  #refreshing(): Record<string, string> {
    return { grant_type: 'refresh_token', refresh_token: this.#refresh_token };
  }

  #take({ status, json }: Answer): boolean {
    if (status !== 200) return false;
    this.#refresh_token = String(json['refresh_token']);
    this.access_token = String(json['access_token']);
    this.#isServed.resolve();
    return true;
  }

  #die(answer: Answer): void {
    this.#isDead = true;
    this.#isServed.resolve();
    const { error_description } = answer.json;
    this.#field.ledger.contradict(`${this.#name} is dead: ${summary(answer)}: ${String(error_description)}`);
  }
}

/** Redeems codes all the time and revokes what they gave: what is confirmed as revoked stays dead. */
class Redeemer {
  readonly #field: Field;
  readonly revoked: string[] = [];

  constructor(field: Field) {
    this.#field = field;
  }

  async run(state: State): Promise<void> {
    while (!state.isOver) {
      const code = await codeOf(this.#field);
      if (code === undefined) await sleep(250);
      else await this.#redeem(code);
    }
  }

  async #redeem(code: string): Promise<void> {
    const { ledger } = this.#field;
    const { answer, wasUnknown } = await insist(this.#field, '/token', redemption(code));
    if (answer.status !== 200) {
      // Its redemption may have been committed: then it is spent, and the person is sent through /authorize once more.
      if (wasUnknown && answer.json['error'] === 'invalid_grant') ledger.askedAgain += 1;
      else if (answer.status !== 0) ledger.contradict(`a fresh code gave ${summary(answer)}`);
      return;
    }
    const token = String(answer.json['access_token']);
    const revocation = await insist(this.#field, '/revoke', { token });
    if (revocation.answer.status === 200) this.revoked.push(token);
  }

  async settle(): Promise<void> {
    for (const token of this.revoked.slice(-40)) {
      const { answer } = await insist(this.#field, '/introspect', { token });
      if (answer.json['active'] !== false)
        this.#field.ledger.contradict('a token whose revocation was confirmed lives');
    }
  }
}

/** Asks all the time about tokens whose state is known. */
async function watch(field: Field, chains: Chain[], redeemer: Redeemer, state: State): Promise<void> {
  for (let n = 0; !state.isOver; n += 1) {
    await expectState(field, chains[n % chains.length]!.access_token, true);
    const revoked = redeemer.revoked.at(-1);
    if (revoked !== undefined) await expectState(field, revoked, false);
    await sleep(20);
  }
}

async function expectState(field: Field, token: string, active: boolean): Promise<void> {
  const outcome = await ask(field, '/introspect', { token });
  if (outcome.kind !== 'answered') return sleep(pauseAfter(outcome));
  const said = outcome.answer.json['active'];
  if (said !== active)
    field.ledger.contradict(
      `introspection said active: ${String(said)} of a token that is ${active ? 'live' : 'revoked'}`,
    );
}
