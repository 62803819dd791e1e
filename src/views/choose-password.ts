/** The field in which somebody chooses a password, on pages where an account is made theirs. */
import { problemAt, problemAttributes } from './form.ts';
import { html, type Html } from './html.ts';
import type { Frame } from './layout.ts';
import { frameSentences } from './sentences/frame.ts';
import { recoverySentences } from './sentences/recovery.ts';

/** Why a password cannot be set. */
export type PasswordProblem = 'short' | 'long' | 'name' | 'common' | 'guessable';

/** The sentence about it. */
export const passwordProblem = ({ lang }: Frame, problem: PasswordProblem, min: number): string => {
  const t = recoverySentences(lang);
  return problem === 'short' ? t.short({ min }) : t[problem];
};

/** The field, with what is wrong with what was typed. Managers are told whose it is by the name beside it. */
export function newPasswordField(
  { lang }: Frame,
  { problem, min_length, focus = false }: { problem: string | undefined; min_length: number; focus?: boolean },
): Html {
  const common = frameSentences(lang);
  return html`<div class="field">
    <label for="new-password">${recoverySentences(lang).new_password}</label>
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
        required${problemAttributes(problem, 'new-password')}${focus && html` autofocus`}
      />
    </div>
  </div>`;
}

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
