/**
 * What exactly somebody agrees to (RFC 9396): the sentence of its type, and every member of it. The sentence is the operator's; what is
 * in it, and all that is below, comes from the application, so none of it is left out or cut short.
 */
import { exactNumberIn, listIn } from '../languages/intl.ts';
import type { Language } from '../languages/index.ts';
import { html, type Html } from './html.ts';
import { authorizationDetailsSentences } from './sentences/authorization-details.ts';

export type DetailView = {
  /** What is said of its type in this language, with members by their JSON Pointers in braces; null where nothing is. */
  sentence: string | null;
  detail: { readonly type: string; readonly [member: string]: unknown };
};

export function authorizationDetails(language: Language, details: readonly DetailView[]): Html | false {
  const t = authorizationDetailsSentences(language);
  return (
    details.length > 0 &&
    html`<section id="authorization-details">
      <h2>${t.heading}</h2>
      ${details.map((view) => oneDetail(language, view))}
      <p class="small muted">${t.once}</p>
    </section>`
  );
}

export function oneDetail(language: Language, { sentence, detail }: DetailView): Html {
  const said = sentence === null ? undefined : sentenceOf(language, sentence, detail);
  const { type, ...members } = detail;
  return html`<div class="detail">
    <p>${said ?? html`<code class="tag">${shown(type)}</code>`}</p>
    ${membersOf(language, members)}
  </div>`;
}

/** The sentence, filled in; undefined where it speaks of something that the detail does not have. */
function sentenceOf(language: Language, sentence: string, detail: unknown): Html | undefined {
  const parts = sentence.split(/\{(\/[^{}]*)\}/);
  const filled = parts.map((part, index) => {
    if (index % 2 === 0) return part;
    const value = memberAt(detail, part);
    return value === undefined ? undefined : inline(language, value);
  });
  return filled.every((part) => part !== undefined) ? html`${filled}` : undefined;
}

function memberAt(detail: unknown, pointer: string): unknown {
  let here: unknown = detail;
  for (const part of pointer.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    here = isObject(here) && Object.hasOwn(here, name) ? here[name] : undefined;
  }
  return here;
}

type Members = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members with a name of ours. */
const NAMES = {
  locations: 'locations',
  actions: 'actions',
  datatypes: 'datatypes',
  identifier: 'identifier',
  privileges: 'privileges',
  amount: 'amount',
  money: 'amount',
  instructedAmount: 'amount',
  creditorName: 'recipient',
  recipient: 'recipient',
  creditorAccount: 'account',
  account: 'account',
  iban: 'account',
  remittanceInformationUnstructured: 'reference',
  reference: 'reference',
} as const;

function nameOf(language: Language, name: string): Html {
  const known = Object.hasOwn(NAMES, name) ? NAMES[name as keyof typeof NAMES] : undefined;
  return known ? html`${authorizationDetailsSentences(language)[known]}` : html`<bdi>${shown(name)}</bdi>`;
}

const membersOf = (language: Language, members: Members): Html | false =>
  Object.keys(members).length > 0 &&
  html`<dl>
    ${Object.entries(members).map(
      ([name, value]) =>
        html`<dt>${nameOf(language, name)}</dt>
          <dd>${block(language, value)}</dd>`,
    )}
  </dl>`;

/** A value in a place of its own: lists of objects and objects are lists in it. */
function block(language: Language, value: unknown): Html {
  if (isObject(value) && !isMoney(value)) return membersOf(language, value) || inline(language, null);
  if (!Array.isArray(value) || !value.some((item) => typeof item === 'object' && item !== null)) {
    return inline(language, value);
  }
  return html`<ul class="list">
    ${value.map((item: unknown) => html`<li>${block(language, item)}</li>`)}
  </ul>`;
}

/** A value in a line. */
function inline(language: Language, value: unknown): Html {
  const t = authorizationDetailsSentences(language);
  if (typeof value === 'string' && value !== '') return html`<bdi><b>${shown(value)}</b></bdi>`;
  if (typeof value === 'number') return html`<b>${exactNumberIn(language)(value)}</b>`;
  if (typeof value === 'boolean') return html`${value ? t.yes : t.no}`;
  if (isMoney(value)) return html`<bdi><b>${moneyOf(language, value)}</b></bdi>`;
  const items = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return items.length > 0
    ? html`${listIn(
        language,
        items.map((item) => inline(language, item)),
      )}`
    : html`${t.nothing}`;
}

type Money = { amount: string | number; currency: string };
const isMoney = (value: unknown): value is Money =>
  isObject(value) &&
  Object.keys(value).length === 2 &&
  ['string', 'number'].includes(typeof value['amount']) &&
  typeof value['currency'] === 'string';

/** As it was sent: a number that is rounded, or has another point, is another one. */
const moneyOf = (language: Language, { amount, currency }: Money): string =>
  `${typeof amount === 'number' ? exactNumberIn(language)(amount) : shown(amount)} ${shown(currency)}`;

/** One line, whole: with nothing in it that turns a line around. */
const shown = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cs}\p{Bidi_Control}\s]+/gu, ' ');
