/**
 * Authentication contexts (`acr`, OpenID Connect Core §2): each is a name, and the methods (`amr`, RFC 8176) that a
 * sign-in has to show for it.
 */
import type { ClaimRequest } from './claims-request.ts';

/** What each context needs, by name. */
export type Contexts = ReadonlyMap<string, readonly string[]>;

/** Ours: one factor, and more than one. */
const BUILT_IN: Contexts = new Map([
  ['1', []],
  ['2', ['mfa']],
]);

/** `name=methods`: the methods joined by `+`, or the name of one of ours. */
const ENTRY = /^([\x21-\x7E]{1,200})=([A-Za-z0-9_.+-]+)$/;

/** Why these entries cannot be read, or undefined when they can. */
export function contextsProblem(entries: readonly string[]): string | undefined {
  const names = [...BUILT_IN.keys()];
  for (const entry of entries) {
    const [, name, methods] = ENTRY.exec(entry) ?? [];
    if (name === undefined || methods === undefined || methods.split('+').includes('')) {
      return 'must be name=methods entries, the methods joined by +';
    }
    if (names.includes(name)) return `names ${name} twice, or it is one of the built-in ones`;
    names.push(name);
  }
  return undefined;
}

/** Our contexts and the configured ones. */
export function readContexts(entries: readonly string[]): Contexts {
  const contexts = new Map(BUILT_IN);
  for (const entry of entries) {
    const [, name = '', methods = ''] = ENTRY.exec(entry) ?? [];
    contexts.set(name, BUILT_IN.get(methods) ?? methods.split('+'));
  }
  return contexts;
}

/** A key that made sure who used it is two factors in one: the device that holds it, and what unlocks that. */
const isVerifiedKey = (amr: readonly string[]): boolean =>
  amr.includes('user') && (amr.includes('hwk') || amr.includes('swk'));

/** Does a sign-in by these methods show this one? */
const shows = (amr: readonly string[], method: string): boolean =>
  amr.includes(method) || (method === 'mfa' && isVerifiedKey(amr));

/** Which of ours a sign-in by these methods is. */
export const levelOf = (amr: readonly string[]): string => (shows(amr, 'mfa') ? '2' : '1');

/** The first of `values` that a sign-in by these methods is worthy of. */
export const metContext = (contexts: Contexts, values: readonly string[], amr: readonly string[]): string | undefined =>
  values.find((value) => contexts.get(value)?.every((method) => shows(amr, method)));

/** The contexts a client asks for, best first. */
export interface RequestedAcr {
  values: string[];
  /** One of them, or no answer (OpenID Connect Core §5.5.1.1). */
  essential: boolean;
}

/**
 * What `acr` is asked for: by the claims parameter, else by acr_values, else by what the client registered. Names that we
 * do not know can never be met, and are left out.
 */
export function requestedAcr(
  claim: ClaimRequest | undefined,
  acr_values: string | undefined,
  default_acr_values: readonly string[] | null,
  contexts: Contexts,
): RequestedAcr | undefined {
  const named = claim && valuesOf(claim);
  const values = named ?? acr_values?.split(' ') ?? default_acr_values;
  if (!values) return undefined;
  const known = [...new Set(values)].filter((value): value is string => contexts.has(value as string));
  return { values: known, essential: named !== undefined && claim?.essential === true };
}

/** The values a claim is asked for with; undefined when any will do. */
export const valuesOf = ({ value, values }: ClaimRequest): unknown[] | undefined =>
  value === undefined ? values : [value];
