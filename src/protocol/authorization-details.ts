/**
 * Rich authorization requests (RFC 9396): the syntax of `authorization_details`, what lies within what, and which details
 * mean something where. What a type allows says its row; whether a detail has its form, its schema (clients/authorization-types.ts).
 */
import { OAuthError, type ErrorDetail } from './error.ts';
import { isPlainText } from './plain-text.ts';
import { isUriText } from './uri.ts';

type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

/** One thing that is asked for (§2): an object whose `type` says what its other members mean. */
export type AuthorizationDetail = {
  readonly type: string;
  /** The resources it is for (§2.2). */
  readonly locations?: readonly string[];
  readonly [member: string]: Json | undefined;
};

/** What of a type decides where its details count, and what may be less than was granted. */
export interface DetailRule {
  /** The resources that its details are for; none is any. */
  resource: readonly string[];
  /** JSON Pointers (RFC 6901) to the members that a token may have less of. */
  narrowable: readonly string[];
}

/** More details, or larger ones, are nobody's to read on a page. */
const MAX_DETAILS = 16;
const MAX_CHARACTERS = 8192;
const MAX_DEPTH = 8;
const MAX_NAME = 100;
/** Own members of these names would be something else to whoever copies an object carelessly. */
const NO_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype', '']);

/** §5. */
export const invalidDetails = (description: string, detail: ErrorDetail = {}): OAuthError =>
  new OAuthError('invalid_authorization_details', description, { check: 'authorization_details', ...detail });

/** The details in a request's parameter; none where there is no parameter. @throws OAuthError invalid_authorization_details */
export function parseDetails(text: string | undefined): AuthorizationDetail[] {
  if (text === undefined) return [];
  if (text.length > MAX_CHARACTERS) {
    throw invalidDetails('authorization_details is too long', {
      expected: `at most ${MAX_CHARACTERS} characters`,
      received: `${text.length} characters`,
    });
  }
  const parsed = parseJson(text);
  if (!Array.isArray(parsed) || parsed.length === 0)
    throw invalidDetails('authorization_details must be a JSON array of objects');
  if (parsed.length > MAX_DETAILS) {
    const received = String(parsed.length);
    throw invalidDetails('there are too many authorization_details', { expected: `at most ${MAX_DETAILS}`, received });
  }
  const details = parsed.map(detailOf);
  for (const [index, detail] of details.entries()) {
    // Nobody could tell whether one thing or two were meant.
    if (details.slice(0, index).some((before) => isSame(before, detail))) {
      throw invalidDetails('the same authorization_details stand there twice');
    }
  }
  return details;
}

function detailOf(value: unknown): AuthorizationDetail {
  if (!isObject(value as Json)) throw invalidDetails('authorization_details must be a JSON array of objects');
  const problem = problemOf(value as Json, 0);
  if (problem !== undefined) throw invalidDetails(`authorization_details: ${problem}`);
  const { type, locations } = value as Record<string, Json>;
  if (typeof type !== 'string' || !isDetailsType(type)) throw invalidDetails('authorization_details without a type');
  if (
    locations !== undefined &&
    !(Array.isArray(locations) && locations.every((uri) => typeof uri === 'string' && isUriText(uri)))
  ) {
    throw invalidDetails('authorization_details: locations must be a list of URIs');
  }
  return value as AuthorizationDetail;
}

/** The types of details, each once. */
export const typesOf = (details: readonly AuthorizationDetail[]): string[] => [
  ...new Set(details.map(({ type }) => type)),
];

/** Names as scopes have them (RFC 6749 §3.3), so that one that is a URI can be a type, too. */
export const isDetailsType = (name: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(name);

/** What makes a value unfit to be kept, shown and compared. */
function problemOf(value: Json, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return 'nested too deep';
  // A page shows it, so it holds nothing that turns a line around or hides in it.
  if (typeof value === 'string') return isPlainText(value) ? undefined : 'text must be plain';
  // JSON can say 1e999, and nobody can keep it.
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'a number is too large';
  if (!isObject(value) && !Array.isArray(value)) return undefined;
  for (const [name, member] of Object.entries(value as Record<string, Json>)) {
    if (name.length > MAX_NAME || NO_NAMES.has(name) || !isPlainText(name))
      return 'a member has a name that it cannot have';
    const problem = problemOf(member, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: Json | undefined): value is { readonly [member: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Do two values say the same, in whatever order their members come? */
export const isSame = (a: Json | AuthorizationDetail, b: Json | AuthorizationDetail): boolean =>
  isWithinAt(a as Json, b as Json, '', NOTHING);
const NOTHING: ReadonlySet<string> = new Set();

/** Is a detail at most another one? Only what its type lets be narrowed may be less; everything else is the same. */
const isWithin = (
  requested: AuthorizationDetail,
  granted: AuthorizationDetail,
  { narrowable }: Pick<DetailRule, 'narrowable'>,
): boolean => isWithinAt(requested as Json, granted as Json, '', new Set(narrowable));

function isWithinAt(requested: Json, granted: Json, pointer: string, narrowable: ReadonlySet<string>): boolean {
  if (narrowable.has(pointer) && isLess(requested, granted)) return true;
  if (Array.isArray(requested) || Array.isArray(granted)) {
    if (!Array.isArray(requested) || !Array.isArray(granted) || requested.length !== granted.length) return false;
    return requested.every((item: Json, index) => isSame(item, granted[index] as Json));
  }
  if (!isObject(requested) || !isObject(granted)) return requested === granted;
  const names = Object.keys(requested);
  if (names.length !== Object.keys(granted).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(granted, name) &&
      isWithinAt(requested[name]!, granted[name]!, `${pointer}/${escapedName(name)}`, narrowable),
  );
}

/** The name of a member in a JSON Pointer (RFC 6901 §3). */
export const escapedName = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Part of a list, each entry as often as there at most; or an amount between nothing and all, as a number or in digits. */
function isLess(requested: Json, granted: Json): boolean {
  if (Array.isArray(requested) && Array.isArray(granted)) {
    const left = [...(granted as readonly Json[])];
    return (requested as readonly Json[]).every((item) => {
      const at = left.findIndex((one) => isSame(item, one));
      return at >= 0 && left.splice(at, 1).length === 1;
    });
  }
  if (typeof requested === 'number' && typeof granted === 'number') return requested >= 0 && requested <= granted;
  if (typeof requested !== 'string' || typeof granted !== 'string') return false;
  const [less, more] = [amountOf(requested), amountOf(granted)];
  return less !== undefined && more !== undefined && less <= more;
}

/** An amount in digits, such as 123.50, in millionths: floats would round it. */
function amountOf(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,18})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(6, '0'));
}

/**
 * Is everything that is asked for within what was granted, each of it within another one? Two within one would be twice as much
 * as somebody agreed to.
 */
export function areWithin(
  requested: readonly AuthorizationDetail[],
  granted: readonly AuthorizationDetail[],
  types: ReadonlyMap<string, Pick<DetailRule, 'narrowable'>>,
): boolean {
  const takenBy = new Map<number, number>();
  const place = (index: number, seen: Set<number>): boolean =>
    granted.some((one, at) => {
      const rule = types.get(requested[index]!.type);
      if (!rule || seen.has(at) || !isWithin(requested[index]!, one, rule)) return false;
      seen.add(at);
      const other = takenBy.get(at);
      // Whoever is there may have another place.
      if (other !== undefined && !place(other, seen)) return false;
      takenBy.set(at, index);
      return true;
    });
  return requested.every((_detail, index) => place(index, new Set()));
}

/**
 * The details of one token: those asked for, which must lie within the grant's, else all of the grant's (§6.1).
 * @throws OAuthError invalid_authorization_details
 */
export function narrowDetails(
  requested: readonly AuthorizationDetail[],
  granted: readonly AuthorizationDetail[],
  types: ReadonlyMap<string, Pick<DetailRule, 'narrowable'>>,
): readonly AuthorizationDetail[] {
  if (requested.length === 0) return granted;
  if (areWithin(requested, granted, types)) return requested;
  throw invalidDetails('the authorization_details are not within what was granted', {
    expected: `at most ${granted.length} granted, each narrowed as its type allows`,
    received: `${requested.length} of type ${typesOf(requested).join(', ')}`,
  });
}

/** Does a detail mean something to one of these resources? What its type, or it itself, names none for does everywhere. */
export const isFor = (
  { locations = [] }: AuthorizationDetail,
  { resource }: Pick<DetailRule, 'resource'>,
  at: readonly string[],
): boolean => [resource, locations].every((places) => places.length === 0 || places.some((uri) => at.includes(uri)));

/** Why a detail cannot be asked for at these resources; undefined where it can. Its locations (§2.2) must all be among them. */
export function placeProblem(
  { locations = [] }: AuthorizationDetail,
  { resource }: Pick<DetailRule, 'resource'>,
  at: readonly string[],
): string | undefined {
  if (resource.length > 0 && !resource.some((uri) => at.includes(uri)))
    return 'are of a type that is for another resource';
  if (resource.length > 0 && !locations.every((uri) => resource.includes(uri)))
    return 'name a location that is not their type’s';
  return locations.every((uri) => at.includes(uri)) ? undefined : 'name a location that is not a requested resource';
}
