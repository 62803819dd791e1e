/**
 * Authentication contexts (`acr`, OpenID Connect Core §2): each is a name, and the methods (`amr`, RFC 8176) that a
 * sign-in has to show for it.
 */
import type { ClaimRequest } from './claims-request.ts';

/** What each context needs, by name: all methods of one of its sets. */
export type Contexts = ReadonlyMap<string, ReadonlyArray<readonly string[]>>;

/**
 * Ours: one factor, and more than one. A passkey that knew its person (`user`) is two in one: what they have, and what
 * they know or are.
 */
const BUILT_IN: Contexts = new Map([
  ['1', [[]]],
  ['2', [['mfa'], ['hwk', 'user'], ['swk', 'user']]],
]);

/** `name=methods`: the methods joined by `+`, or the name of one of ours; several of these joined by `|`. */
const ENTRY = /^([\x21-\x7E]{1,200})=([A-Za-z0-9_.+|-]+)$/;

const setsOf = (methods: string): ReadonlyArray<readonly string[]> =>
  methods.split('|').flatMap((set) => BUILT_IN.get(set) ?? [set.split('+')]);

/** Why these entries cannot be read, or undefined when they can. */
export function contextsProblem(entries: readonly string[]): string | undefined {
  const names = [...BUILT_IN.keys()];
  for (const entry of entries) {
    const [, name, methods] = ENTRY.exec(entry) ?? [];
    if (name === undefined || methods === undefined || setsOf(methods).flat().includes('')) {
      return 'must be name=methods entries, the methods joined by +, alternatives by |';
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
    contexts.set(name, setsOf(methods));
  }
  return contexts;
}

/** The first of `values` that a sign-in by these methods is worthy of. */
export const metContext = (contexts: Contexts, values: readonly string[], amr: readonly string[]): string | undefined =>
  values.find((value) => contexts.get(value)?.some((set) => set.every((method) => amr.includes(method))));

/** Which of ours a sign-in by these methods is. */
export const levelOf = (amr: readonly string[]): '1' | '2' =>
  metContext(BUILT_IN, ['2'], amr) === undefined ? '1' : '2';

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
