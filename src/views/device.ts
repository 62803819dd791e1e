import { hidden, problemAt, problemAttributes, problemDetails, problemSummary, titled } from './form.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';

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
  return page(frame, {
    title: titled(frame, 'Connect a device', problem),
    heading: 'Connect a device',
    lead: 'Enter the code that your device shows.',
    body: html`
      ${problemSummary(frame, problem, 'user_code')}
      <form method="post" action="${action}">
        ${hidden({ form_token })}
        <div class="field">
          <label for="user_code">Code</label>
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
        <p class="small muted">Only go on if you started this yourself, on a device you own.</p>
        <div class="actions">
          <button class="button strong" id="device-submit">Continue</button>
        </div>
      </form>
      ${problemDetails(frame, request_id)}
    `,
  });
}

export type DeviceDonePageProps = { frame: Frame; outcome: 'approved' | 'denied' };

/** What a person sees last: the device goes on by itself. */
export function deviceDonePage({ frame, outcome }: DeviceDonePageProps): Html {
  const approved = outcome === 'approved';
  return page(frame, {
    title: approved ? 'Device connected' : 'Device not connected',
    heading: approved ? 'Your device is connected' : 'Your device was not connected',
    lead: approved ? 'Go back to it: it continues by itself.' : 'Nothing was allowed. You can close this page.',
    body: html``,
  });
}
