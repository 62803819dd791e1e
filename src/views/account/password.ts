/** The password: changed by whoever knows it or signed in with a passkey just now, and set by whoever has none. */
import { hidden, problemAt, problemAttributes, problemSummary } from '../form.ts';
import { html, type Html } from '../html.ts';
import { nameForManagers, newPasswordField, passwordMeter, refusalOf, type JudgedPassword } from '../new-password.ts';
import { revealPassword, sendOnce } from '../script.ts';
import { frameSentences } from '../sentences/frame.ts';
import { passwordSentences } from '../sentences/password.ts';
import { accountPage, type AccountFrame } from './frame.ts';

/** What can be wrong besides the new password, by the name of its sentence. */
export type PasswordProblem = 'wrong_current' | 'too_many' | 'meanwhile';

export type PasswordPageProps = {
  frame: AccountFrame;
  action: string;
  form_token: string;
  username: string;
  has_password: boolean;
  /** Is the present password asked for? */
  asks_current: boolean;
  /** Does the form end other sessions, unless that is taken back? */
  end_others: boolean;
  min_length: number;
  strength_url: string;
  problem?: PasswordProblem | JudgedPassword | undefined;
  done?: string | undefined;
};

export function passwordPage(props: PasswordPageProps): Html {
  const { frame, action, form_token, has_password, asks_current, problem } = props;
  const t = passwordSentences(frame.lang);
  const common = frameSentences(frame.lang);
  const of_new = typeof problem === 'object' ? refusalOf(frame.lang, problem) : undefined;
  const other = typeof problem === 'string' ? t[problem] : undefined;
  const of_current = asks_current ? other : undefined;
  const field = of_current === undefined ? 'new-password' : 'current-password';
  return accountPage(frame, {
    name: 'password',
    problem: of_new ?? other,
    done: props.done === 'changed' ? t.done : undefined,
    scripts: [revealPassword, passwordMeter, sendOnce],
    body: html`${problemSummary(frame, of_new ?? other, field)}
      ${!has_password ? html`<p>${t.none}</p>` : !asks_current && html`<p>${t.proven}</p>`}
      <form method="post" action="${action}">
        ${hidden({ form_token })} ${nameForManagers(props.username)}
        ${
          asks_current &&
          html`<div class="field">
            <label for="current-password">${t.current}</label>
            ${problemAt(of_current, 'current-password')}
            <div class="slot">
              <input
                id="current-password"
                name="current-password"
                type="password"
                autocomplete="current-password"
                data-show="${common.show}"
                data-hide="${common.hide}"
                required${problemAttributes(of_current, 'current-password')}
              />
            </div>
          </div>`
        }
        ${newPasswordField(frame, {
          min_length: props.min_length,
          strength_url: props.strength_url,
          problem: of_new ?? (asks_current ? undefined : other),
        })}
        <div class="tick">
          <input type="checkbox" id="end-others" name="end-others" value="yes" ${props.end_others && html` checked`} />
          <label for="end-others">${t.end_others}</label>
        </div>
        <p class="small muted">${t.end_others_hint} ${t.applications}</p>
        <div class="actions">
          <button class="button strong" id="password-submit">${has_password ? t.change : t.set}</button>
        </div>
      </form>`,
  });
}
