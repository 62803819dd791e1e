/** People with second factors, and the codes they show. */
import { TOTP, Secret } from 'otpauth';
import { sha256 } from '../../src/protocol/handle.ts';
import type { User } from '../../src/store/users.ts';
import { labelOf } from '../../src/users/factors/totp.ts';
import type { TestApp } from './app.ts';
import { aUser } from './fixtures.ts';
import { valueOf } from './pages.ts';
import type { LightMyRequestResponse } from 'fastify';

/** A secret of an authenticator app, and the recovery codes beside it. */
export interface Kept {
  secret: Buffer;
  recovery_codes: string[];
}

const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ';
export const recoveryCodeOf = (n: number): string => letters.slice(n) + letters.slice(0, n);

/** Gives somebody an authenticator app and three recovery codes. */
export async function withTotp(at: TestApp, { sub }: Pick<User, 'sub'>): Promise<Kept> {
  const { db, secrets, random } = at.deps;
  const secret = random(20);
  const created_at = at.clock.now();
  const row = { sub, sealed: secrets.seal(secret, labelOf(sub)), last_step: 0, created_at };
  await db.insertInto('totp_credentials').values(row).execute();
  const recovery_codes = [1, 2, 3].map(recoveryCodeOf);
  const hashes = recovery_codes.map((code) => ({ sub, hash: sha256(code), created_at }));
  await db.insertInto('recovery_codes').values(hashes).execute();
  return { secret, recovery_codes };
}

/** Somebody with an authenticator app. */
export async function aUserWithTotp(at: TestApp): Promise<{ user: User } & Kept> {
  const user = await aUser(at);
  return { user, ...(await withTotp(at, user)) };
}

/** The code that the app shows, some steps from now. */
export const codeOf = (at: Pick<TestApp, 'clock'>, secret: Buffer, steps = 0): string =>
  new TOTP({ secret: new Secret({ buffer: new Uint8Array(secret).buffer }) }).generate({
    timestamp: at.clock.now().getTime() + steps * 30_000,
  });

/** The secret that a page shows to set up. */
export const secretOn = (page: LightMyRequestResponse): Buffer =>
  Buffer.from(
    Secret.fromBase32((/id="totp-secret"[^>]*>([^<]*)</.exec(page.body)?.[1] ?? '').replaceAll(' ', '')).buffer,
  );

/** The form that sets it up: the sealed secret, and the code. */
export const setupForm = (at: Pick<TestApp, 'clock'>, page: LightMyRequestResponse): Record<string, string> => ({
  setup: valueOf(page, 'setup') ?? '',
  otp: codeOf(at, secretOn(page)),
});

/** The recovery codes that a page shows. */
export const codesOn = (page: LightMyRequestResponse): string[] =>
  (/id="recovery-codes"[^>]*>\s*<code>([^<]*)</.exec(page.body)?.[1] ?? '').split('\n').filter((line) => line !== '');
