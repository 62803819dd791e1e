/** Claims about a person (OpenID Connect Core §5.1, §5.4): their shapes, and which of them a scope opens. */
import { z } from 'zod';
import { readableText } from './plain-text.ts';
import { webUri } from './uri.ts';

const text = readableText(2000);

/** Claims an operator may set on a user. `sub`, `email` and `preferred_username` come from the account itself. */
export const personClaims = z.strictObject({
  name: text.optional(),
  given_name: text.optional(),
  family_name: text.optional(),
  middle_name: text.optional(),
  nickname: text.optional(),
  profile: webUri().optional(),
  picture: webUri().optional(),
  website: webUri().optional(),
  gender: text.optional(),
  birthdate: z
    .string()
    .regex(/^(\d{4}|0000-\d{2}-\d{2}|\d{4}-\d{2}-\d{2})$/)
    .optional(),
  zoneinfo: text.optional(),
  locale: text.optional(),
  phone_number: text.optional(),
  phone_number_verified: z.boolean().optional(),
  address: z
    .strictObject({
      formatted: text.optional(),
      street_address: text.optional(),
      locality: text.optional(),
      region: text.optional(),
      postal_code: text.optional(),
      country: text.optional(),
    })
    .optional(),
  groups: z.array(text).max(200).optional(),
});
export type PersonClaims = z.infer<typeof personClaims>;

/** Claims that people may edit themselves, where an operator lets them (`PROFILE_CLAIMS`): those that are one text. */
export const PROFILE_CLAIMS = [
  'name',
  'given_name',
  'family_name',
  'middle_name',
  'nickname',
  'profile',
  'picture',
  'website',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
  'phone_number',
] as const satisfies ReadonlyArray<keyof PersonClaims>;
export type ProfileClaim = (typeof PROFILE_CLAIMS)[number];

/** Is it one of them? */
export const isProfileClaim = (name: string): name is ProfileClaim =>
  (PROFILE_CLAIMS as readonly string[]).includes(name);

/** What a person belongs to, as claims: RFC 9068 §2.2.3.1 lets access tokens carry them, too. */
export const MEMBERSHIP_CLAIMS = ['groups', 'roles'] as const;
export type MembershipClaim = (typeof MEMBERSHIP_CLAIMS)[number];

/** A claims document: JSON values by claim name. */
export type Claims = Record<string, unknown>;

/** The claims of `all` that the named claims allow, without nulls, empty strings and empty objects (§5.3.2). */
export function pickClaims(all: Claims, names: Iterable<string>): Claims {
  const picked: Claims = {};
  for (const name of names) {
    const value = all[name];
    if (value !== undefined && value !== null && value !== '' && !isEmptyObject(value)) picked[name] = value;
  }
  return picked;
}

const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
