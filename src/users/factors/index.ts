/**
 * The factors: by what people can prove who they are. A new one is a file here and a row; as a second factor with a table of its
 * own it is a line in store/second-factors.ts as well.
 */
import type { Factor } from './factor.ts';
import { passkey } from './passkey-factor.ts';
import { password } from './password-factor.ts';
import { recoveryCode } from './recovery-code.ts';
import { totp } from './totp.ts';

/** Every factor, by its name. */
export const factors = { password, totp, passkey, recovery_code: recoveryCode } as const satisfies Record<
  string,
  Factor
>;

export type FactorName = keyof typeof factors;

const rows: ReadonlyArray<readonly [FactorName, Factor]> = Object.entries(factors) as Array<[FactorName, Factor]>;

/** The row of a factor. */
export const factorOf = (name: FactorName): Factor => factors[name];

/** The factors that are asked for after another, by the field that carries their proof. */
export const secondFactors: ReadonlyArray<readonly [FactorName, Factor]> = rows.filter(([, { second }]) => second);

/** The methods of somebody who showed one factor, and then another (RFC 8176 §2: `mfa`). */
export const withSecond = (amr: readonly string[], second: readonly string[]): string[] => [
  ...new Set([...amr, ...second, 'mfa']),
];

/** Whose ways are asked for: the second factors that they have, by name. */
export interface Bearer {
  second_factors: readonly string[];
}

/** What somebody could show as a second factor: of those they have, or of one that they would set up. */
export const secondsOf = ({ second_factors }: Bearer): ReadonlyArray<readonly string[]> =>
  rows
    .filter(([name, { second, enrols }]) =>
      second_factors.length === 0 ? enrols : second && (second_factors.includes(name) || name === 'recovery_code'),
    )
    .flatMap(([, { amr }]) => amr);

/** What somebody could sign in with: what is a second factor as well, only if they have it. */
const firstsOf = ({ second_factors }: Bearer): ReadonlyArray<readonly string[]> =>
  rows
    .filter(([name, { first, second }]) => first && (!second || second_factors.includes(name)))
    .flatMap(([, { amr }]) => amr);

/** The methods of each way to sign in there is for somebody; without second factors where nobody is asked for one. */
export const waysToSignIn = (who: Bearer, asked: boolean): ReadonlyArray<readonly string[]> =>
  firstsOf(who).flatMap((first) => [
    first,
    ...(asked ? secondsOf(who).map((second) => withSecond(first, second)) : []),
  ]);

/** The second factors of somebody who has them all: what anybody could show. */
export const ANYBODY: Bearer = { second_factors: secondFactors.map(([name]) => name) };
