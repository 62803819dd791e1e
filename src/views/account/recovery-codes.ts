/** The recovery codes of an account: how many are left, and new ones, which are shown once. */
import { hidden } from '../form.ts';
import { html, type Html } from '../html.ts';
import { moment } from '../moment.ts';
import { codesToKeep } from '../recovery-codes.ts';
import { copyButtons, sendOnce } from '../script.ts';
import { authenticatorSentences } from '../sentences/authenticator.ts';
import { accountPage, type AccountFrame } from './frame.ts';

export type RecoveryCodesPageProps = {
  frame: AccountFrame;
  action: string;
  form_token: string;
  /** How many are left and since when; null for somebody who has no second factor to lose. */
  codes: { left: number; created_at: Date | string | null } | null;
  /** New ones. */
  made?: readonly string[] | undefined;
};

export function recoveryCodesPage({ frame, action, form_token, codes, made }: RecoveryCodesPageProps): Html {
  const t = authenticatorSentences(frame.lang);
  return accountPage(frame, {
    name: 'recovery_codes',
    lead: t.kept_lead,
    scripts: [sendOnce, copyButtons],
    body: made
      ? html`<h2>${t.kept_title}</h2>
          ${codesToKeep(frame, { codes: made, action, form_token })}
          <div class="actions"><a class="button strong" id="codes-kept" href="${action}">${t.go_on}</a></div>`
      : codes === null
        ? html`<p class="muted" id="recovery-codes-none">${t.no_codes}</p>`
        : html`<p id="recovery-codes-left"><b>${t.left({ count: codes.left })}</b></p>
            ${
              codes.created_at !== null &&
              html`<dl>
                <dt>${t.since}</dt>
                <dd>${moment(codes.created_at, frame.lang)}</dd>
              </dl>`
            }
            <form method="post" action="${action}">
              ${hidden({ form_token })}
              <p class="small muted">${t.renew_hint}</p>
              <div class="actions">
                <button class="button" id="recovery-codes-renew" name="action" value="renew">${t.renew}</button>
              </div>
            </form>`,
  });
}
