/** The field for a new password, the same wherever one is chosen; and what is said of one. */
import type { Language } from '../languages/index.ts';
import { problemAt, problemAttributes } from './form.ts';
import { html, raw, type Html } from './html.ts';
import type { Frame } from './layout.ts';
import { frameSentences } from './sentences/frame.ts';
import { passwordSentences } from './sentences/password.ts';
import { recoverySentences } from './sentences/recovery.ts';

/** What is known of a password that somebody chose. */
export type JudgedPassword = {
  refusal: 'short' | 'long' | 'name' | 'common' | 'guessable' | 'drawn' | undefined;
  score: 0 | 1 | 2 | 3 | 4;
  /** In the words of zxcvbn. */
  warning: string | null;
  min_length: number;
};

const WARNINGS: Readonly<
  Record<string, 'keyboard' | 'repeated' | 'sequence' | 'date' | 'usual' | 'word' | 'personal'>
> = {
  straightRow: 'keyboard',
  keyPattern: 'keyboard',
  simpleRepeat: 'repeated',
  extendedRepeat: 'repeated',
  sequences: 'sequence',
  recentYears: 'date',
  dates: 'date',
  topTen: 'usual',
  topHundred: 'usual',
  common: 'usual',
  similarToCommon: 'usual',
  wordByItself: 'word',
  namesByThemselves: 'word',
  commonNames: 'word',
  userInputs: 'personal',
};

/** Why a password cannot be set, in a sentence or two; undefined when it can. */
export function refusalOf(lang: Language, { refusal, warning, min_length }: JudgedPassword): string | undefined {
  if (refusal === undefined) return undefined;
  const t = recoverySentences(lang);
  if (refusal === 'short') return t.short({ min: min_length });
  const key = refusal === 'guessable' && warning !== null ? WARNINGS[warning] : undefined;
  return key === undefined ? t[refusal] : `${t[refusal]} ${passwordSentences(lang)[key]}`;
}

/** What the meter says beside itself. */
export const strengthOf = (lang: Language, judged: JudgedPassword): string =>
  refusalOf(lang, judged) ?? passwordSentences(lang)[`strength_${judged.score}`];

export type NewPasswordProps = {
  min_length: number;
  /** Where a password is judged while it is typed. */
  strength_url: string;
  /** The link of a mail that the page is behind: whose password it is to be. */
  link?: string | undefined;
  hint?: string | undefined;
  problem?: string | undefined;
  autofocus?: boolean;
};

/** The field. Any characters may be in it, pasted ones too; without JavaScript the verdict comes with the answer. */
export function newPasswordField(
  frame: Frame,
  { min_length, strength_url, link, hint, problem, autofocus = false }: NewPasswordProps,
): Html {
  const common = frameSentences(frame.lang);
  return html`<div class="field">
    <label for="new-password">${recoverySentences(frame.lang).new_password}</label>
    ${problemAt(problem, 'new-password')}
    <div class="slot">
      <input
        id="new-password"
        name="new-password"
        type="password"
        autocomplete="new-password"
        minlength="${min_length}"
        passwordrules="minlength: ${min_length};"
        data-show="${common.show}"
        data-hide="${common.hide}"
        required${problemAttributes(problem, 'new-password')}${autofocus && html` autofocus`}
      />
    </div>
    ${hint !== undefined && html`<p class="small muted">${hint}</p>`}
    <p class="small muted" id="password-strength" role="status"></p>
    <input type="hidden" id="strength-url" value="${strength_url}" />
    ${link !== undefined && html`<input type="hidden" id="strength-link" value="${link}" />`}
  </div>`;
}

/** How the meter looks. */
export const meterStyle = raw('meter{width:100%;height:.5rem;margin-top:.5rem}');

/** For password managers: they file the password under the name that stands beside it. */
export const nameForManagers = (username: string): Html =>
  html`<input
    class="hush"
    id="username"
    name="username"
    value="${username}"
    autocomplete="username"
    tabindex="-1"
    aria-hidden="true"
  />`;

/**
 * Asks what a password is worth once nobody has typed for half a second, with what else the form knows of the person. An answer
 * that comes late is not shown, and where there is none nothing is said. The two hidden inputs have no name: forms do not send them.
 */
export const passwordMeter = raw(`
for (const url of document.querySelectorAll('#strength-url')) {
  const input = document.getElementById('new-password');
  const link = document.getElementById('strength-link');
  const said = document.getElementById('password-strength');
  const meter = document.createElement('meter');
  let timer, last = 0;
  meter.max = 4;
  meter.low = 2;
  meter.high = 3;
  meter.optimum = 4;
  meter.hidden = true;
  meter.setAttribute('aria-hidden', 'true');
  said.before(meter);
  input.addEventListener('input', () => {
    clearTimeout(timer);
    const turn = ++last;
    timer = setTimeout(async () => {
      const body = new URLSearchParams({ password: input.value, link: link ? link.value : '' });
      for (const name of ['email', 'name']) body.set(name, input.form.elements[name] ? input.form.elements[name].value : '');
      const answer = input.value === '' ? undefined : await fetch(url.value, { method: 'POST', body }).catch(() => {});
      const judged = answer && answer.ok ? await answer.json() : undefined;
      if (turn !== last) return;
      meter.hidden = !judged;
      if (judged) meter.value = judged.score;
      said.textContent = judged ? judged.message : '';
    }, 500);
  });
}`);
