/** The page of the second factor: a code of the authenticator app or a recovery code, or one being set up, or that it is set up. */
import { clientName, named, namedClient, plain, who, type ClientView, type PersonView } from './client.ts';
import { hidden, problemAt, problemAttributes, problemDetails, problemSummary, titled } from './form.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import { codesAndOn, type CodesProps } from './recovery-codes.ts';
import { passkeyCreation } from './account/passkeys.ts';
import { createPasskeys, passkeyButton, passkeyForm, usePasskeys } from './passkey.ts';
import { copyButtons, sendOnce } from './script.ts';
import { authenticatorSentences } from './sentences/authenticator.ts';
import { frameSentences } from './sentences/frame.ts';
import { loginSentences } from './sentences/login.ts';
import { passkeySentences } from './sentences/passkey.ts';
import { secondFactorSentences } from './sentences/second-factor.ts';
import { upstreamSentences } from './sentences/upstream.ts';
import { codeField, setupSteps, type SetupProps } from './authenticator.ts';

/** What is wrong, as the name of a sentence. */
export type SecondFactorProblem =
  | 'no_code'
  | 'no_recovery_code'
  | 'wrong_code'
  | 'wrong_recovery_code'
  | 'too_late'
  | 'too_many'
  | 'lost'
  | 'ended'
  | 'wrong_passkey';

type Common = {
  frame: Frame;
  action: string;
  form_token: string;
  client?: ClientView | null | undefined;
  person: PersonView;
  /** Where somebody else signs in. */
  switch_url?: string | undefined;
  problem?: SecondFactorProblem | undefined;
  request_id?: string | undefined;
  /** May the person leave, or go on without? */
  cancel: boolean;
  later: boolean;
  /** What the browser is asked for, as JSON, where the person has passkeys. */
  passkey?: string | undefined;
};

export type SecondFactorPageProps = Common &
  (
    | { shows: 'code'; recovery_url: string }
    | { shows: 'passkey'; recovery_url: string }
    | { shows: 'recovery'; code_url: string | undefined }
    | { shows: 'setup'; setup: SetupProps; create?: string | undefined }
    | { shows: 'confirm' }
    | { shows: 'codes'; codes: CodesProps; onward: string }
  );

export function secondFactorPage(props: SecondFactorPageProps): Html {
  const { frame, client, person, shows } = props;
  const t = secondFactorSentences(frame.lang);
  const kept = authenticatorSentences(frame.lang).kept_title;
  const title = shows === 'codes' ? kept : isSetup(props) ? t.setup_title : t.title;
  const problem = problemOf(props);
  return page(frame, {
    title: titled(frame, client && shows !== 'codes' ? `${title} · ${clientName(client)}` : title, problem),
    heading: title,
    lead: leadOf(props),
    client,
    scripts: [
      sendOnce,
      ...(props.passkey === undefined ? [] : [usePasskeys]),
      ...(shows === 'setup' || shows === 'codes' ? [copyButtons] : []),
      ...(shows === 'setup' && props.create !== undefined ? [createPasskeys] : []),
    ],
    body: html`
      ${problemSummary(frame, problem, fieldOf(props))} ${shows !== 'codes' && who(person, switchLink(props))}
      ${bodyOf(props)} ${problemDetails(frame, props.request_id)}
    `,
  });
}

const isSetup = ({ shows }: SecondFactorPageProps): boolean => shows === 'setup' || shows === 'confirm';
function fieldOf({ shows, problem }: SecondFactorPageProps): string {
  if (problem === 'wrong_passkey' || shows === 'passkey') return 'passkey-signin';
  return shows === 'recovery' ? 'recovery-code' : 'otp';
}

function leadOf(props: SecondFactorPageProps): Html | string {
  const t = secondFactorSentences(props.frame.lang);
  if (props.shows === 'codes') return authenticatorSentences(props.frame.lang).kept_lead;
  if (isSetup(props)) {
    return props.client ? html`${t.setup_lead_client({ client: namedClient(props.client) })}` : t.setup_lead;
  }
  if (props.shows === 'passkey') return passkeySentences(props.frame.lang).second_lead;
  return props.shows === 'recovery' ? t.recovery_lead : t.code_lead;
}

function bodyOf(props: SecondFactorPageProps): Html {
  const { frame, action, form_token } = props;
  const t = secondFactorSentences(frame.lang);
  const problem = problemOf(props);
  const submit = frameSentences(frame.lang).continue;
  const { passkey: options } = props;
  const asksPasskey = options !== undefined && html`${passkeyButton(frame, { alone: props.shows === 'passkey' })}`;
  const form = (body: Html): Html =>
    html`<form method="post" action="${action}">${hidden({ form_token })} ${body}</form>
      ${options !== undefined && passkeyForm({ action, form_token, options })}`;
  if (props.shows === 'codes') return codesAndOn(frame, props.codes, props.onward);
  if (props.shows === 'confirm') {
    return form(
      html`<p>${t.confirm_lead}</p>
        <div class="actions">
          <button class="button strong" id="second-factor-confirm" name="action" value="confirm">${t.confirm}</button>
          ${ways(props)}
        </div>`,
    );
  }
  if (props.shows === 'setup') {
    const { create } = props;
    const setup = form(
      html`${setupSteps(frame, { ...props.setup, problem: props.problem === 'wrong_passkey' ? undefined : problem })}
        <div class="actions">
          <button class="button strong" id="otp-submit" name="action" value="setup">${submit}</button>
          ${create === undefined && ways(props)}
        </div>`,
    );
    if (create === undefined) return setup;
    // One or the other, and below both what leaves them.
    return html`${setup}
      <p class="muted small beyond">${upstreamSentences(frame.lang).or}</p>
      ${passkeyCreation({ frame, action, form_token, options: create }, { other: true })}
      ${(props.later || props.cancel) && html`<form class="actions" method="post" action="${action}">${hidden({ form_token })} ${ways(props)}</form>`}`;
  }
  if (props.shows === 'passkey') {
    return form(
      html`<div class="actions">
        ${asksPasskey}
        <a class="button quiet" id="use-recovery-code" href="${props.recovery_url}">${t.use_recovery}</a>
        ${ways(props)}
      </div>`,
    );
  }
  if (props.shows === 'recovery') {
    return form(
      html`${recoveryField(t.recovery, problem)}
        <div class="actions">
          <button class="button strong" id="recovery-submit" name="action" value="recovery">${submit}</button>
          ${
            props.code_url !== undefined &&
            html`<a class="button quiet" id="use-authenticator" href="${props.code_url}">${t.use_code}</a>`
          }
          ${ways(props)}
        </div>
        <p class="small muted">${t.no_way}</p>`,
    );
  }
  return form(
    html`${codeField(frame, { problem: props.problem === 'wrong_passkey' ? undefined : problem, focus: problem === undefined })}
      <div class="actions">
        <button class="button strong" id="otp-submit" name="action" value="otp">${submit}</button>
        ${asksPasskey}
        <a class="button quiet" id="use-recovery-code" href="${props.recovery_url}">${t.use_recovery}</a>
        ${ways(props)}
      </div>`,
  );
}

/** Out of it, and past it. */
const ways = ({ frame, later, cancel }: Common): Html =>
  html`${
    later &&
    html`<button class="button quiet" id="second-factor-later" name="action" value="later" formnovalidate>
      ${secondFactorSentences(frame.lang).later}
    </button>`
  }
  ${
    cancel &&
    html`<button class="button quiet" id="second-factor-cancel" name="action" value="cancel" formnovalidate>
      ${frameSentences(frame.lang).cancel}
    </button>`
  }`;

const recoveryField = (label: string, problem: string | undefined): Html =>
  html`<div class="field">
    <label for="recovery-code">${label}</label>
    ${problemAt(problem, 'recovery-code')}
    <input
      id="recovery-code"
      name="recovery-code"
      autocomplete="off"
      autocapitalize="characters"
      spellcheck="false"
      maxlength="64"
      required${problemAttributes(problem, 'recovery-code')}${problem === undefined && html` autofocus`}
    />
  </div>`;

const problemOf = ({ frame, problem }: Common): string | undefined =>
  problem === 'wrong_passkey'
    ? passkeySentences(frame.lang).passkey
    : problem && secondFactorSentences(frame.lang)[problem];

const switchLink = ({ frame, person, switch_url }: Common): Html | false =>
  switch_url !== undefined &&
  html`<a href="${switch_url}"
    >${loginSentences(frame.lang).not_you({ name: named(plain(person.name).split(' ')[0] ?? '') })}</a
  >`;
