/** Setting up an authenticator app: the picture to scan, the secret to type instead, and the code that shows it worked. */
import { hidden, problemAt, problemAttributes } from './form.ts';
import { html, type Html } from './html.ts';
import type { Frame } from './layout.ts';
import { authenticatorSentences } from './sentences/authenticator.ts';
import { frameSentences } from './sentences/frame.ts';

/** A picture of dark squares on a square of `size`, its quiet zone included, as the path of an SVG. */
export type QrView = { size: number; path: string };

export type SetupProps = {
  qr: QrView;
  /** In groups, as people type it. */
  secret: string;
  /** The same for the server, which nobody else can read or exchange. */
  sealed: string;
  problem?: string | undefined;
};

export function setupSteps({ lang }: Frame, { qr, secret, sealed, problem }: SetupProps): Html {
  const t = authenticatorSentences(lang);
  return html`${hidden({ setup: sealed })}
    <h2>${t.scan}</h2>
    <p class="small muted">${t.apps}</p>
    ${picture(qr, t.picture)}
    <h2>${t.type}</h2>
    <p class="beside">
      <code id="totp-secret" data-copy="${copyWords(lang)}">${secret}</code>
    </p>
    <h2>${t.then_code}</h2>
    ${codeField({ lang }, { problem })}`;
}

// Dark on light in either scheme: cameras read nothing else.
const picture = ({ size, path }: QrView, label: string): Html =>
  html`<p>
    <svg
      id="totp-qr"
      role="img"
      aria-label="${label}"
      width="200"
      height="200"
      viewBox="0 0 ${size} ${size}"
      shape-rendering="crispEdges"
    >
      <path fill="#fff" d="M0 0h${size}v${size}H0z" />
      <path fill="#000" d="${path}" />
    </svg>
  </p>`;

/** The field for six digits: also where an authenticator app is set up. */
export const codeField = (
  { lang }: Pick<Frame, 'lang'>,
  { problem, focus = false }: { problem: string | undefined; focus?: boolean },
): Html =>
  html`<div class="field">
    <label for="otp">${authenticatorSentences(lang).code}</label>
    ${problemAt(problem, 'otp')}
    <input
      id="otp"
      name="otp"
      inputmode="numeric"
      autocomplete="one-time-code"
      autocapitalize="none"
      spellcheck="false"
      maxlength="11"
      required${problemAttributes(problem, 'otp')}${focus && html` autofocus`}
    />
    <p class="small muted">${authenticatorSentences(lang).code_hint}</p>
  </div>`;

/** What the button says that copies: before, and after. */
export const copyWords = (lang: Frame['lang']): string => `${frameSentences(lang).copy}|${frameSentences(lang).copied}`;
