/** The authenticator app of an account: set up, shown, removed. */
import { setupSteps, type SetupProps } from '../authenticator.ts';
import { hidden, problemDetails, problemSummary } from '../form.ts';
import { html, type Html } from '../html.ts';
import { moment } from '../moment.ts';
import { codesToKeep, type CodesProps } from '../recovery-codes.ts';
import { copyButtons, sendOnce } from '../script.ts';
import { authenticatorSentences } from '../sentences/authenticator.ts';
import { frameSentences } from '../sentences/frame.ts';
import { secondFactorSentences } from '../sentences/second-factor.ts';
import { accountPage, type AccountFrame } from './frame.ts';

export type AuthenticatorPageProps = {
  frame: AccountFrame;
  action: string;
  form_token: string;
  /** Why it is shown again, as the name of a sentence. */
  problem?: string | undefined;
  request_id?: string | undefined;
  /** What was done, as the name of a sentence. */
  done?: string | undefined;
} & (
  | { shows: 'none'; setup: SetupProps }
  | { shows: 'off' }
  | { shows: 'present'; created_at: Date | string; used_at: Date | string | null; lost: boolean }
  | { shows: 'codes'; codes: CodesProps; onward: string }
);

export function authenticatorPage(props: AuthenticatorPageProps): Html {
  const { frame } = props;
  const t = authenticatorSentences(frame.lang);
  const problem = problemIn(props);
  return accountPage(frame, {
    name: 'authenticator',
    problem,
    done: props.done === 'added' || props.done === 'removed' ? t[props.done] : undefined,
    scripts: [sendOnce, copyButtons],
    body: html`${problemSummary(frame, problem, 'otp')} ${bodyOf(props)} ${problemDetails(frame, props.request_id)}`,
  });
}

const problemIn = ({ frame, problem }: AuthenticatorPageProps): string | undefined =>
  problem === 'wrong_code' || problem === 'too_late' ? secondFactorSentences(frame.lang)[problem] : undefined;

function bodyOf(props: AuthenticatorPageProps): Html {
  const { frame, action, form_token } = props;
  const t = authenticatorSentences(frame.lang);
  if (props.shows === 'off') return html`<p class="muted">${t.off}</p>`;
  if (props.shows === 'codes') {
    return html`<p class="note" role="status">${t.added}</p>
      <h2>${t.kept_title}</h2>
      <p>${t.kept_lead}</p>
      ${codesToKeep(frame, props.codes)}
      <div class="actions"><a class="button strong" id="codes-kept" href="${props.onward}">${t.go_on}</a></div>`;
  }
  if (props.shows === 'none') {
    return html`<p>${t.none}</p>
      <form method="post" action="${action}">
        ${hidden({ form_token })} ${setupSteps(frame, { ...props.setup, problem: problemIn(props) })}
        <div class="actions">
          <button class="button strong" id="authenticator-submit" name="action" value="setup">
            ${frameSentences(frame.lang).continue}
          </button>
        </div>
      </form>`;
  }
  return html`<p>${props.lost ? secondFactorSentences(frame.lang).lost : t.present}</p>
    <dl>
      <dt>${t.since}</dt>
      <dd>${moment(props.created_at, frame.lang)}</dd>
      <dt>${t.used}</dt>
      <dd>${props.used_at === null ? t.never : moment(props.used_at, frame.lang)}</dd>
    </dl>
    <form method="post" action="${action}">
      ${hidden({ form_token })}
      <p class="small muted">${t.remove_hint}</p>
      <div class="actions">
        <button class="button bad" id="authenticator-remove" name="action" value="remove">${t.remove}</button>
      </div>
    </form>`;
}
