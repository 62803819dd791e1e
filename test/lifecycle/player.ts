/** Plays steps on the real application and on the model, and compares the two after each. */
import fc from 'fast-check';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { findSessions, startSession } from '../../src/sessions/index.ts';
import { transact } from '../../src/store/postgres/db.ts';
import { setDisabled, setPassword } from '../../src/users/accounts.ts';
import { testApp, type TestApp } from '../support/app.ts';
import {
  aClient,
  authorizationUrl,
  aUser,
  aVerifier,
  BY,
  credentials,
  formTokenOf,
  introspect,
  postForm,
  redeem,
  refresh,
  TestBrowser,
  userinfo,
  type AClient,
  type Tokens,
} from '../support/fixtures.ts';
import * as model from './model.ts';
import { TERMS, type Family, type World } from './model.ts';

/** Mostly seconds, sometimes to the very edge of a life, seldom past everything. */
const seconds = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<number[]>(1, 2, 5, 10) },
  { weight: 6, arbitrary: fc.constantFrom<number[]>(29, 30, 31, 59, 60, 61) },
  { weight: 3, arbitrary: fc.constantFrom<number[]>(299, 300, 599, 600, 1500) },
  { weight: 1, arbitrary: fc.constantFrom<number[]>(2999, 3000, 3599, 3600, 7200, 10_000) },
);
/** Counts from the newest; where there is nothing to pick, nothing happens. */
const pick = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat({ max: 6 }) });
const client = fc.constantFrom(0, 0, 1, 1, 2);
const owner = { weight: 5, arbitrary: fc.constant('owner') };
const other = { weight: 1, arbitrary: fc.constant('other') };

/** What may happen next. */
const acts = {
  authorize: fc.record({ act: fc.constant('authorize'), client, offline: fc.boolean(), redeemed: fc.boolean() }),
  redeem: fc.record({
    act: fc.constant('redeem'),
    pick,
    by: fc.oneof(owner, other, { weight: 1, arbitrary: fc.constant('wrong verifier') }),
  }),
  refresh: fc.record({
    act: fc.constant('refresh'),
    pick,
    by: fc.oneof(owner, owner, other),
    scope: fc.constantFrom(undefined, undefined, undefined, 'openid', 'openid address'),
  }),
  revoke: fc.record({ act: fc.constantFrom('revoke access', 'revoke refresh'), pick, by: fc.oneof(owner, other) }),
  person: fc.record({ act: fc.constantFrom('sign out', 'sign out', 'disable', 'change password') }),
  back: fc.record({ act: fc.constantFrom('enable', 'sign in') }),
  wait: fc.record({ act: fc.constant('wait'), seconds }),
};
const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>): fc.WeightedArbitrary<T> => ({ weight, arbitrary });
export const steps = fc.array(
  fc.oneof(
    weighted(8, acts.authorize),
    weighted(4, acts.redeem),
    weighted(16, acts.refresh),
    weighted(2, acts.revoke),
    weighted(1, acts.person),
    weighted(4, acts.back),
    weighted(8, acts.wait),
  ),
  { minLength: 5, maxLength: 40, size: 'max' },
);
export type Step = typeof steps extends fc.Arbitrary<Array<infer S>> ? S : never;

export interface Stage {
  at: TestApp;
  window: number;
  clients: AClient[];
  /** How often each thing happened: a run that never met a reuse has proven nothing about it. */
  seen: Map<string, number>;
}

export async function aStage(window: number): Promise<Stage> {
  const at = await testApp({ config: { ...TERMS, REFRESH_TOKEN_RETRY_WINDOW: window } });
  const clients = [
    await aClient(at, { skip_consent: true }),
    await aClient(at, { skip_consent: true, access_token_format: 'opaque', access_token_ttl: 300 }),
    await aClient(at, { skip_consent: true, grant_types: ['authorization_code'] }),
  ];
  return { at, window, clients, seen: new Map() };
}

const START = { kind: 'browser', ttl: TERMS.SESSION_TTL, via: 'test' } as const;
const REQUESTER = { ip: '192.0.2.1', network: '192.0.2.1', request_id: 'lifecycle' };
const COOKIE = '__Host-postern_session';

/** Plays one life of one new person. @throws when the application and the model disagree */
export async function play(stage: Stage, script: readonly Step[]): Promise<void> {
  const { at, window, clients, seen } = stage;
  const { sub } = await aUser(at, { password: undefined });
  const browser = new TestBrowser(at);
  const world: World = { session: undefined, disabled: false, families: [] };
  const settled = new Set<Family>();
  const now = (): number => at.clock.now().getTime() / 1000;
  const note = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  const newest = <T>(all: readonly T[], index: number): T | undefined => all[all.length - 1 - (index % all.length)];
  const otherThan = (family: Family): AClient => clients[(family.client + 1) % clients.length]!;

  async function perform(step: Step): Promise<void> {
    switch (step.act) {
      case 'authorize':
        return authorize(step.client, step.offline, step.redeemed);
      case 'redeem': {
        const family = newest(world.families, step.pick);
        return family && redeemCode(family, step.by);
      }
      case 'refresh': {
        const token = newest(
          world.families.flatMap(({ refresh }) => refresh),
          step.pick,
        );
        return token && refreshWith(token, step.by, step.scope);
      }
      case 'revoke access':
      case 'revoke refresh': {
        const kind = step.act === 'revoke access' ? 'access' : 'refresh';
        const tokens = world.families.flatMap((family): Array<model.Access | model.Refresh> => family[kind]);
        const token = newest(tokens, step.pick);
        return token && revoke(token, kind, step.by);
      }
      case 'sign in':
        return signIn();
      case 'sign out':
        return signOut();
      case 'disable':
      case 'enable':
        world.disabled = step.act === 'disable';
        await transact(at.deps.db, (trx) => setDisabled(trx, sub, world.disabled, BY, at.clock.now()));
        return world.disabled ? model.endSession(world, 'everything') : undefined;
      case 'change password': {
        const passwords = { ...at.deps.passwords, hash: () => Promise.resolve('a hash') };
        await setPassword({ ...at.deps, passwords }, sub, 'another long password', BY, at.clock.now());
        return model.endSession(world, 'everything');
      }
      case 'wait':
        at.clock.advance(step.seconds);
    }
  }

  async function authorize(client: number, offline: boolean, redeemed: boolean): Promise<void> {
    const { code_verifier, code_challenge } = aVerifier();
    const scope = offline ? 'openid profile offline_access' : 'openid profile';
    const parameters = { scope, code_challenge, code_challenge_method: 'S256', prompt: 'none' };
    const answer = await browser.get(authorizationUrl(browser.issuer, clients[client]!, parameters));
    const { searchParams } = new URL(answer.headers.location!);
    const { session } = world;
    if (!model.isSessionLive(session, now())) {
      expect(searchParams.get('error')).toBe('login_required');
      return note('no session');
    }
    if (session.seen_at < now() - 60) session.seen_at = now();
    expect(searchParams.get('error')).toBeNull();
    const expires_at =
      now() + (client === 2 ? TERMS.AUTHORIZATION_CODE_TTL + TERMS.ACCESS_TOKEN_TTL : TERMS.REFRESH_TOKEN_TTL);
    const code = {
      code: searchParams.get('code')!,
      code_verifier,
      expires_at: now() + TERMS.AUTHORIZATION_CODE_TTL,
      used: false,
    };
    const family = { client, offline, session, scope, expires_at, ended: false, code, access: [], refresh: [] };
    world.families.push(family);
    note('code');
    if (redeemed) await redeemCode(family, 'owner');
  }

  async function redeemCode(family: Family, by: string): Promise<void> {
    const { code } = family;
    const owner = clients[family.client]!;
    const presented = { ...code, client: owner, user: undefined as never, browser };
    const fields =
      by === 'other' ? credentials(otherThan(family)) : by === 'owner' ? {} : { code_verifier: 'w'.repeat(43) };
    const answer = await redeem(at, presented, fields);
    const works = by === 'owner' && !code.used && now() < code.expires_at && model.isFamilyLive(family, now());
    expect(answer.statusCode).toBe(works ? 200 : 400);
    if (works) {
      code.used = true;
      addTokens(family, answer.json<Tokens>(), family.scope);
      note('redeemed');
    } else if (by === 'owner' && code.used) {
      // RFC 6749 §4.1.2: a replay, by whom only its client can be.
      if (model.isFamilyLive(family, now())) note('code replay');
      family.ended = true;
    } else {
      expect(answer.json()).toMatchObject({ error: 'invalid_grant' });
      note(by === 'owner' ? 'dead code' : `code ${by}`);
    }
  }

  async function refreshWith(token: model.Refresh, by: string, scope: string | undefined): Promise<void> {
    const { family } = token;
    const isOwner = by === 'owner';
    const answer = await refresh(at, isOwner ? clients[family.client]! : otherThan(family), token.token, { scope });
    const allowed = scope !== 'openid address';
    const fresh = model.isRefreshLive(token, now());
    const retry = model.isRetry(token, window, now());
    if (isOwner && allowed && (fresh || retry)) {
      expect(answer.statusCode).toBe(200);
      const tokens = answer.json<Tokens>();
      if (retry) expect(tokens.refresh_token).toBe(token.successor!.token);
      else token.used_at = now();
      const successor = addTokens(family, tokens, scope ?? family.scope);
      if (successor) token.successor = successor;
      return note(retry ? 'retried' : scope === undefined ? 'refreshed' : 'narrowed');
    }
    expect(answer.statusCode).toBe(400);
    if (!isOwner) return note('refresh by another client');
    if (retry) {
      // Asking for too much is a mistake, also of a client that asks again.
      expect(answer.json()).toMatchObject({ error: 'invalid_scope' });
      return note('scope beyond the grant');
    }
    if (token.used_at !== undefined) {
      // RFC 9700 §4.14.2: one of the two who hold it stole it.
      if (model.isFamilyLive(family, now())) note('reuse');
      family.ended = true;
      return;
    }
    expect(answer.json()).toMatchObject({ error: fresh ? 'invalid_scope' : 'invalid_grant' });
    note(fresh ? 'scope beyond the grant' : 'dead refresh token');
  }

  /** Notes what a token answer gave; returns the refresh token if it is a new one. */
  function addTokens(family: Family, tokens: Tokens, scope: string): model.Refresh | undefined {
    const ttl = family.client === 1 ? 300 : TERMS.ACCESS_TOKEN_TTL;
    expect(tokens.scope).toBe(scope);
    expect(tokens.expires_in).toBe(Math.min(ttl, family.expires_at - now()));
    family.access.push({ token: tokens.access_token, family, scope, expires_at: now() + tokens.expires_in });
    expect(tokens.refresh_token === undefined).toBe(family.client === 2);
    if (tokens.refresh_token === undefined) return undefined;
    if (family.refresh.some(({ token }) => token === tokens.refresh_token)) return undefined;
    const expires_at = Math.min(now() + TERMS.REFRESH_TOKEN_IDLE_TTL, family.expires_at);
    const given = { token: tokens.refresh_token, family, expires_at };
    family.refresh.push(given);
    return given;
  }

  async function revoke(token: model.Access | model.Refresh, kind: 'access' | 'refresh', by: string): Promise<void> {
    const { family } = token;
    const asker = by === 'owner' ? clients[family.client]! : otherThan(family);
    const answer = await postForm(at, '/revoke', { token: token.token, ...credentials(asker) });
    // RFC 7009 §2.2: whatever it was.
    expect(answer.statusCode).toBe(200);
    if (by !== 'owner') return;
    // An expired JWT is read by nobody any more; every handle leads to its grant as long as its row is kept.
    const isRead = kind === 'refresh' || family.client === 1 || now() < token.expires_at;
    if (isRead && model.isFamilyLive(family, now())) note(`revoked ${kind}`);
    if (isRead) family.ended = true;
  }

  async function signIn(): Promise<void> {
    const time = at.clock.now();
    const browser_sessions = await findSessions(at.deps, [browser.cookies.get(COOKIE) ?? ''], time);
    const live = model.isSessionLive(world.session, now());
    expect(browser_sessions.length).toBe(live ? 1 : 0);
    const person = { sub, amr: ['pwd'], acr: '1', password_changed_at: null };
    const starting = startSession(at.deps, person, { ...START, browser_sessions }, REQUESTER, time);
    if (world.disabled) return expect(starting).rejects.toMatchObject({ error: 'access_denied' });
    browser.cookies.set(COOKIE, (await starting).handle);
    const times = { expires_at: now() + TERMS.SESSION_TTL, seen_at: now(), ended: false };
    // The same person in the same browser carries the session on, under a new id.
    if (live) Object.assign(world.session!, times);
    else world.session = times;
  }

  async function signOut(): Promise<void> {
    const live = model.isSessionLive(world.session, now());
    const page = await browser.get('/logout');
    expect(page.statusCode).toBe(live ? 200 : 302);
    if (!live) return;
    const answer = await browser.post('/logout', { form_token: formTokenOf(page), action: 'logout' });
    expect(answer.statusCode).toBe(303);
    model.endSession(world, 'sign_out');
    note('sign-out');
  }

  /** Asks about every token there ever was; families that are known to be dead are asked again at the end. */
  async function compare(families: readonly Family[]): Promise<void> {
    const found = families.map(async ({ client, access, refresh }) => ({
      access: await Promise.all(
        access.map(async ({ token }) => {
          const { active, scope } = await introspect(at, clients[client]!, token);
          const info = await userinfo(at, token);
          return active === (info.statusCode === 200) ? active && scope : `userinfo answers ${info.statusCode}`;
        }),
      ),
      refresh: await Promise.all(
        refresh.map(async ({ token }) => (await introspect(at, clients[client]!, token)).active),
      ),
    }));
    const expected = families.map(({ access, refresh }) => ({
      access: access.map((token) => model.isAccessLive(token, now()) && token.scope),
      refresh: refresh.map((token) => model.isRefreshLive(token, now())),
    }));
    expect(await Promise.all(found)).toEqual(expected);
  }

  /** Never two live successors: of one grant at most one refresh token is unused. */
  async function requireOneSuccessor(): Promise<void> {
    const { rows } = await sql`
      select t.grant_id from refresh_tokens t join grants g using (expires_bucket, grant_id)
      where g.sub = ${sub} and t.used_at is null group by t.grant_id having count(*) > 1`.execute(at.deps.db);
    expect(rows).toEqual([]);
  }

  await signIn();
  for (const step of script) {
    await perform(step);
    await compare(world.families.filter((family) => !settled.has(family)));
    for (const family of world.families) if (family.ended) settled.add(family);
  }
  await requireOneSuccessor();
  await compare(world.families);
}
