/** The verdict on a password that somebody chose: the same wherever one is chosen. */
import { expect, test, vi } from 'vitest';
import { createStrength, type JudgeStrength } from '../../src/users/factors/strength.ts';
import { problemOf, verdictOn, type PasswordContext } from '../../src/users/factors/verdict.ts';

const strength = createStrength();
const config = { PASSWORD_MIN_LENGTH: 8, PASSWORD_MIN_SCORE: 2, ISSUER: 'https://login.zeppelin.example' };
const ada: PasswordContext = {
  username: 'lovelace1815',
  email: 'countess@byron.example',
  claims: { name: 'Augusta Ada King', birthdate: '1815-12-10', groups: ['staff'] },
};
const problem = async (password: string, who = ada, judge: JudgeStrength = strength): Promise<string | undefined> =>
  problemOf(await verdictOn({ passwords: { strength: judge }, config }, password, who));

test.each([
  ['qwertyui', /most common/],
  ['P@ssw0rd2024', /easy to guess\. It is close to a much used password/],
  ['aaaaaaaaaaaaaaaaaaaa', /Repeated characters/],
  ['x'.repeat(512), /Repeated characters/],
  ['        ', /Repeated characters/],
  ['12121212121212', /easy to guess/],
  ['asdfghjkl;', /Rows of keys|most common/],
])('ASVS 6.2.4: %s is refused, with what makes it easy to guess', async (password, said) => {
  expect(await problem(password)).toMatch(said);
});

test.each(['Lovelace1815!', 'countess12', 'Byronbyron', 'Augusta123', 'postern2', 'Zeppelin1', 'NILEPPEZ'])(
  'ASVS 6.2.11: %s is made of words that whoever knows the person and the server tries first',
  async (password) => {
    expect(await problem(password)).toMatch(/close to your name|easy to guess/);
  },
);

test.each(['correct horse battery staple', 'zufällig gewählt', '口令是一只蓝色的鲸鱼', 'gK7#wq2!', 'ox cart at dawn'])(
  'ASVS 6.2.5, NIST 800-63B-4 §3.1.1.2: %s is made of whatever characters it likes',
  async (password) => {
    expect(await problem(password)).toBeUndefined();
  },
);

test('a sentence says what to do about it, and a score is there for a meter', async () => {
  const verdict = await verdictOn({ passwords: { strength }, config }, 'Summer11!');
  expect(verdict).toMatchObject({ refusal: 'guessable', score: 1, min_length: 8, max_bytes: 1024 });
  expect(problemOf(verdict)).toBe('is easy to guess. Add a few words that are less common');
  const lax = { ...config, PASSWORD_MIN_SCORE: 0 };
  expect((await verdictOn({ passwords: { strength }, config: lax }, 'Summer11!')).refusal).toBeUndefined();
  expect((await verdictOn({ passwords: { strength }, config: lax }, 'sunshine')).refusal).toBe('common');
});

test('what is too short, too long or the name itself is not judged: that costs nothing', async () => {
  const judge = vi.fn<JudgeStrength>();
  expect(await problem('seven77', ada, judge)).toBe('must have at least 8 characters');
  expect(await problem('é'.repeat(513), ada, judge)).toBe('must have at most 1024 bytes');
  expect(await problem('LOVELACE1815', ada, judge)).toBe('must not be the name of the account');
  expect(judge).not.toHaveBeenCalled();
});

test('the words that a person wrote about themselves have a bound, whatever there is of them', async () => {
  const judge = vi.fn<JudgeStrength>(async () => ({ common: false, score: 4, warning: null, suggestions: [] }));
  await problem(
    'anything at all',
    { claims: { name: Array.from({ length: 300 }, (_, n) => `w${n}x`).join(' ') } },
    judge,
  );
  const words = judge.mock.calls[0]![1];
  expect(words.length).toBeLessThanOrEqual(60);
  expect(words.every(({ length }) => length <= 64)).toBe(true);
});

test('of very long ones a part is judged, and of many at once some are told to come back', async () => {
  const words = ['zeppelin', 'ada'];
  const long = '4@8(639!1|0$57%2ab1'.repeat(50);
  const asked = Array.from({ length: 60 }, (_, n) => strength(n === 0 ? long : 'short one here', words));
  const answers = await Promise.allSettled(asked);
  expect(answers[0]).toMatchObject({ status: 'fulfilled', value: { score: 4 } });
  const refused = answers.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(10);
  expect((refused[0] as PromiseRejectedResult).reason).toMatchObject({ error: 'temporarily_unavailable' });
});
