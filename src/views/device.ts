import { hidden, problemAt, problemAttributes, problemDetails, problemSummary, titled } from './form.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import { deviceSentences } from './sentences/device.ts';
import { frameSentences } from './sentences/frame.ts';

export type DevicePageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  /** From verification_uri_complete, or the try before. */
  user_code: string;
  problem?: string | undefined;
  /** By which those who run the server find the problem. */
  request_id?: string | undefined;
};

/** Where a person types the code that a device shows. */
export function devicePage({ frame, action, form_token, user_code, problem, request_id }: DevicePageProps): Html {
  const t = deviceSentences(frame.lang);
  return page(frame, {
    title: titled(frame, t.title, problem),
    heading: t.title,
    lead: t.lead,
    body: html`
      ${problemSummary(frame, problem, 'user_code')}
      <form method="post" action="${action}">
        ${hidden({ form_token })}
        <div class="field">
          <label for="user_code">${t.code}</label>
          ${problemAt(problem, 'user_code')}
          <input
            id="user_code"
            name="user_code"
            value="${user_code}"
            autocomplete="one-time-code"
            autocapitalize="characters"
            autocorrect="off"
            spellcheck="false"
            placeholder="XXXX-XXXX"
            required
            ${problemAttributes(problem, 'user_code')}
            ${problem === undefined && html` autofocus`}
          />
        </div>
        <p class="small muted">${t.only}</p>
        <div class="actions">
          <button class="button strong" id="device-submit">${frameSentences(frame.lang).continue}</button>
        </div>
      </form>
      ${problemDetails(frame, request_id)}
    `,
  });
}

export type DeviceDonePageProps = { frame: Frame; outcome: 'approved' | 'denied' };

/** What a person sees last: the device goes on by itself. */
export function deviceDonePage({ frame, outcome }: DeviceDonePageProps): Html {
  const t = deviceSentences(frame.lang);
  return page(frame, {
    title: t[`${outcome}_title`],
    heading: t[outcome],
    lead: t[`${outcome}_lead`],
    body: html``,
  });
}
