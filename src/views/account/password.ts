/** The password: changed by whoever knows it or signed in with a passkey just now, and set by whoever has none. */
import { hidden, problemAt, problemAttributes, problemSummary } from '../form.ts';
import { html, type Html } from '../html.ts';
import type { Frame } from '../layout.ts';
import { nameForManagers, newPasswordField, passwordMeter, refusalOf, type JudgedPassword } from '../new-password.ts';
import { revealPassword, sendOnce } from '../script.ts';
import { frameSentences } from '../sentences/frame.ts';
import { passwordSentences } from '../sentences/password.ts';
import { accountPage, type AccountFrame } from './frame.ts';

/** What can be wrong besides the new password, by the name of its sentence. */
export type PasswordProblem = 'wrong_current' | 'too_many' | 'meanwhile';

/** What the form asks for and says, wherever it stands. */
export type PasswordFormProps = {
  action: string;
  form_token: string;
  username: string;
  has_password: boolean;
  /** Was it drawn for them, so that they have to choose another? */
  drawn: boolean;
  /** Is the present password asked for? */
  asks_current: boolean;
  /** Does the form end other sessions, unless that is taken back? */
  end_others: boolean;
  min_length: number;
  strength_url: string;
  problem?: PasswordProblem | JudgedPassword | undefined;
};

export type PasswordPageProps = PasswordFormProps & { frame: AccountFrame; done?: string | undefined };

/** What is wrong, in a sentence. */
export function passwordProblem({ lang }: Frame, problem: PasswordFormProps['problem']): string | undefined {
  if (problem === undefined) return undefined;
  return typeof problem === 'string' ? passwordSentences(lang)[problem] : refusalOf(lang, problem);
}

export const passwordPage = (props: PasswordPageProps): Html =>
  accountPage(props.frame, {
    name: 'password',
    problem: passwordProblem(props.frame, props.problem),
    done: props.done === 'changed' ? passwordSentences(props.frame.lang).done : undefined,
    scripts: [revealPassword, passwordMeter, sendOnce],
    body: passwordForm(props.frame, props),
  });

/** The form. `cancel` is what the button that leaves it is called, where there is one. */
export function passwordForm(frame: Frame, props: PasswordFormProps & { cancel?: string }): Html {
  const { action, form_token, has_password, asks_current, drawn, problem, cancel } = props;
  const t = passwordSentences(frame.lang);
  const common = frameSentences(frame.lang);
  const said = passwordProblem(frame, problem);
  const other = typeof problem === 'string' ? said : undefined;
  const of_new = other === undefined ? said : undefined;
  const of_current = asks_current ? other : undefined;
  const field = of_current === undefined ? 'new-password' : 'current-password';
  const why = drawn ? t.drawn : has_password ? (asks_current ? undefined : t.proven) : t.none;
  return html`${problemSummary(frame, said, field)} ${why !== undefined && html`<p>${why}</p>`}
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
        ${
          cancel !== undefined &&
          html`<button class="button quiet" id="login-cancel" name="action" value="cancel" formnovalidate>
            ${cancel}
          </button>`
        }
      </div>
    </form>`;
}
