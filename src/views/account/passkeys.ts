/** The passkeys of a person, and the form that makes one. */
import { dateIn } from '../../languages/intl.ts';
import { plain } from '../client.ts';
import { hidden, problemAt, problemAttributes, problemSummary } from '../form.ts';
import { html, type Html } from '../html.ts';
import { createPasskeys } from '../passkey.ts';
import { passkeysSentences } from '../sentences/passkeys.ts';
import { accountPage, type AccountFrame } from './frame.ts';

/** What can be wrong, by the name of its sentence. */
export type PasskeyProblem = 'not_created' | 'no_name' | 'gone' | 'only_way';

export type PasskeysPageProps = {
  frame: AccountFrame;
  action: string;
  form_token: string;
  passkeys: ReadonlyArray<{
    passkey_id: string;
    name: string;
    backup_eligible: boolean;
    created_at: Date | string;
    last_used_at: Date | string | null;
  }>;
  /** What the browser is asked for, as JSON. */
  options: string;
  /** Which passkeys there are, as JSON: those who keep them may be told. */
  known: string;
  problem?: { of: PasskeyProblem; field: string } | undefined;
  done?: string | undefined;
};

const DONE = { created: 'done_created', renamed: 'done_renamed', removed: 'done_removed' } as const;

export function passkeysPage(props: PasskeysPageProps): Html {
  const { frame, action, form_token, passkeys, done = '', problem } = props;
  const { lang } = frame;
  const t = passkeysSentences(lang);
  const said = problem && t[problem.of];
  const about = (field: string) => (problem?.field === field ? said : undefined);

  const item = (passkey: PasskeysPageProps['passkeys'][number]): Html => {
    const { passkey_id } = passkey;
    const input = `passkey-name-${passkey_id}`;
    const remove = `passkey-remove-${passkey_id}`;
    const isOpen = about(input) !== undefined || about(remove) !== undefined;
    return html`<li>
      <h2><bdi>${plain(passkey.name)}</bdi></h2>
      <p class="small muted">
        ${t.created({ date: dateIn(lang, passkey.created_at) })}<br />
        ${passkey.last_used_at === null ? t.never_used : t.last_used({ date: dateIn(lang, passkey.last_used_at) })}<br />
        ${passkey.backup_eligible ? t.synchronised : t.one_device}
      </p>
      <details${isOpen && html` open`}>
        <summary>${t.change}<span class="hush"> (<bdi>${plain(passkey.name)}</bdi>)</span></summary>
        <form method="post" action="${action}">
          ${hidden({ form_token, passkey_id })}
          <div class="field">
            <label for="${input}">${t.name}</label>
            ${problemAt(about(input), input)}
            <input id="${input}" name="name" value="${passkey.name}" maxlength="64"${problemAttributes(about(input), input)} />
          </div>
          ${problemAt(about(remove), remove)}
          <div class="actions">
            <button class="button" id="passkey-rename-${passkey_id}" name="action" value="rename">${t.rename}</button>
            <button class="button bad" id="${remove}" name="action" value="remove">${t.remove}</button>
          </div>
          <p class="small muted">${t.remove_effect}</p>
        </form>
      </details>
    </li>`;
  };

  return accountPage(frame, {
    name: 'passkeys',
    lead: t.about,
    problem: said,
    done: Object.hasOwn(DONE, done) ? t[DONE[done as keyof typeof DONE]] : undefined,
    scripts: [createPasskeys],
    body: html`${problemSummary(frame, said, problem?.field ?? '')}
      <section id="passkeys" tabindex="-1">
        ${
          passkeys.length === 0
            ? html`<p>${t.none}</p>`
            : html`<ul class="things">
                ${passkeys.map(item)}
              </ul>`
        }
      </section>
      <section>
        <h2>${t.add}</h2>
        ${passkeyCreation(props, { named: true })}
      </section>`,
  });
}

type Creation = Pick<PasskeysPageProps, 'action' | 'form_token' | 'options'> & {
  frame: Pick<AccountFrame, 'lang'>;
  known?: string | undefined;
};

/**
 * The form that makes a passkey. Without JavaScript, or where the browser knows none, it says what is needed instead. It asks for a
 * name, or not, and may be the other way of a page.
 */
export function passkeyCreation(
  { frame, action, form_token, options, known = '' }: Creation,
  { named = false, other = false }: { named?: boolean; other?: boolean },
): Html {
  const t = passkeysSentences(frame.lang);
  return html`<p class="muted" id="passkey-needs">${t.needs_browser}</p>
    <form
      method="post"
      action="${action}"
      id="passkey-create-form"
      data-create="${options}"
      data-known="${known}"
      hidden
    >
      ${hidden({ form_token, passkey: '', action: 'create' })}
      ${
        named &&
        html`<div class="field">
          <label for="passkey-name">${t.name}</label>
          <p class="small muted" id="passkey-name-hint">${t.name_hint}</p>
          <input
            id="passkey-name"
            name="passkey-name"
            maxlength="64"
            autocomplete="off"
            aria-describedby="passkey-name-hint"
          />
        </div>`
      }
      <p class="wrong" id="passkey-failed" role="status" hidden>${t.create_failed}</p>
      <p class="wrong" id="passkey-already" role="status" hidden>${t.already}</p>
      <div class="actions">
        <button class="button${!other && html` strong`}" id="passkey-create">${t.create}</button>
      </div>
    </form>`;
}
