/** One property, for one retry window: whatever happens in whatever order, the application does what the model says. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { aStage, play, steps, type Step } from './player.ts';

/** A life in which everything that can happen to a token happens; the drawn ones come after it. */
function everything(window: number): Step[] {
  const authorize = { act: 'authorize', client: 0, offline: true, redeemed: true } as const;
  const refresh = { act: 'refresh', pick: 0, by: 'owner', scope: undefined } as const;
  const redeem = { act: 'redeem', pick: 0, by: 'owner' } as const;
  const wait = (seconds: number): Step => ({ act: 'wait', seconds });
  return [
    { ...authorize, redeemed: false },
    { ...redeem, by: 'other' },
    { ...redeem, by: 'wrong verifier' },
    redeem,
    { ...refresh, by: 'other' },
    { ...refresh, scope: 'openid address' },
    { ...refresh, scope: 'openid' },
    wait(10),
    // The first token again: within the window a retry, otherwise a reuse.
    { ...refresh, pick: 1 },
    refresh,
    wait(window),
    { ...refresh, pick: 1 },
    refresh,
    authorize,
    redeem,
    { ...authorize, client: 1, offline: false },
    wait(601),
    { act: 'revoke access', pick: 0, by: 'other' },
    { act: 'revoke access', pick: 0, by: 'owner' },
    { ...authorize, client: 2, redeemed: false },
    wait(60),
    redeem,
    authorize,
    { act: 'revoke refresh', pick: 0, by: 'owner' },
    { ...authorize, offline: false },
    { act: 'sign out' },
    authorize,
    { act: 'sign in' },
    authorize,
    { act: 'disable' },
    { act: 'sign in' },
    { act: 'enable' },
    { act: 'sign in' },
    authorize,
    { act: 'change password' },
    { act: 'sign in' },
    authorize,
    wait(10_000),
    authorize,
    refresh,
  ];
}

export const OUTCOMES = [
  'code',
  'code other',
  'code replay',
  'code wrong verifier',
  'dead code',
  'dead refresh token',
  'narrowed',
  'no session',
  'redeemed',
  'refresh by another client',
  'refreshed',
  'reuse',
  'revoked access',
  'revoked refresh',
  'scope beyond the grant',
  'sign-out',
];

/** Plays for 16 s at most. A failure prints its seed and the shortest script that shows it. */
export async function expectLifecycle(window: number, outcomes: readonly string[] = OUTCOMES): Promise<void> {
  const stage = await aStage(window);
  let lives = 0;
  let acts = 0;
  const property = fc.asyncProperty(steps, async (script) => {
    lives += 1;
    acts += script.length;
    await play(stage, script);
  });
  try {
    await fc.assert(property, { numRuns: 300, interruptAfterTimeLimit: 16_000, examples: [[everything(window)]] });
  } finally {
    await stage.at.close();
  }
  const seen = [...stage.seen].map(([outcome, times]) => `${outcome} ${times}`);
  process.stdout.write(`retry window ${window}: ${lives} lives, ${acts} acts; ${seen.join(', ')}\n`);
  // What was never met has not been tried.
  expect([...stage.seen.keys()]).toEqual(expect.arrayContaining([...outcomes]));
}
