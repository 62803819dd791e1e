import { problemAt, problemAttributes, problemSummary } from '../form.ts';
import { hidden } from '../hidden.ts';
import { html, type Html } from '../html.ts';
import { profileSentences } from '../sentences/profile.ts';
import { accountPage, type AccountFrame } from './frame.ts';

type Claim =
  | 'name'
  | 'given_name'
  | 'family_name'
  | 'middle_name'
  | 'nickname'
  | 'profile'
  | 'picture'
  | 'website'
  | 'gender'
  | 'birthdate'
  | 'zoneinfo'
  | 'locale'
  | 'phone_number';

export type ProfilePageProps = {
  frame: AccountFrame;
  action: string;
  form_token: string;
  /** What may be edited, in the order it is shown. */
  fields: ReadonlyArray<{
    name: Claim;
    value: string;
    /** What can be chosen, where not anything can be written. */
    choices?: ReadonlyArray<readonly [value: string, label: string]> | undefined;
  }>;
  /** The field whose value cannot be taken. */
  wrong?: string | undefined;
  done?: string | undefined;
};

/** What browsers may fill in (WCAG 1.3.5). */
const autocomplete: Partial<Record<Claim, string>> = {
  name: 'name',
  given_name: 'given-name',
  family_name: 'family-name',
  middle_name: 'additional-name',
  nickname: 'nickname',
  website: 'url',
  gender: 'sex',
  birthdate: 'bday',
  locale: 'language',
  phone_number: 'tel',
};

export function profilePage({ frame, action, form_token, fields, wrong, done }: ProfilePageProps): Html {
  const t = profileSentences(frame.lang);
  const problem = fields.some(({ name }) => name === wrong) ? t.invalid : undefined;
  const field = ({ name, value, choices }: ProfilePageProps['fields'][number]): Html => {
    const about = name === wrong ? problem : undefined;
    const shared = html`id="${name}"
    name="${name}"${
      autocomplete[name] !== undefined && html` autocomplete="${autocomplete[name]}"`
    }${problemAttributes(about, name)}`;
    return html`<div class="field">
      <label for="${name}"
        >${t[name]}${name === 'birthdate' && html` <span class="small muted">${t.birthdate_hint}</span>`}</label
      >
      ${problemAt(about, name)}
      ${
        choices
          ? html`<select ${shared}>
              <option value="">${t.none}</option>
              ${
                value !== '' &&
                !choices.some(([each]) => each === value) &&
                html`<option value="${value}" selected>${value}</option>`
              }
              ${choices.map(
                ([each, label]) => html`<option value="${each}" ${each === value && html` selected`}>${label}</option>`,
              )}
            </select>`
          : html`<input ${shared} value="${value}" maxlength="2000" dir="auto" />`
      }
    </div>`;
  };
  return accountPage(frame, {
    name: 'profile',
    problem,
    done: done === 'saved' ? t.saved : undefined,
    body:
      fields.length === 0
        ? html`<p class="muted" id="profile-fixed">${t.fixed}</p>`
        : html`${problemSummary(frame, problem, wrong ?? '')}
            <form method="post" action="${action}">
              ${hidden({ form_token })} ${fields.map(field)}
              <div class="actions">
                <button class="button strong" id="profile-submit" name="action" value="save">${t.save}</button>
              </div>
            </form>`,
  });
}
