/** The frame around every page: one column, the mark, a heading that names the task, and whose server this is. */
import { directionOf, LANGUAGES, languages, type Language } from '../languages/index.ts';
import { plain, type ClientView } from './client.ts';
import { hidden } from './hidden.ts';
import { html, type Html, type Interpolation } from './html.ts';
import { mark } from './icons.ts';
import { frameSentences } from './sentences/frame.ts';
import { themeOf, themeStyle, type Theme } from './theme.ts';
import { stylesheet } from './style.ts';

export type Frame = {
  nonce: string;
  issuer: string;
  /** What the page is written in: `someSentences(frame.lang)` is what it says. */
  lang: Language;
  dev?: boolean | undefined;
  /** How pages look, by client; the server's own by null. */
  themes?: ReadonlyMap<string | null, Theme> | undefined;
  /** Where another language is chosen, and the page that this leads back to. */
  choice?: { action: string; return_to: string } | undefined;
};

export type Parts = {
  title: string;
  heading: Interpolation;
  /** A sentence under the heading. */
  lead?: Interpolation;
  body: Html;
  client?: ClientView | null | undefined;
  scripts?: readonly Html[];
  /** Beside the stylesheet of all pages. */
  style?: Html;
  wide?: boolean;
  /** Where the page goes on by itself, once it and its frames are loaded. */
  onward?: string | undefined;
  /** It leaves by itself at once: there is nothing to read in another language. */
  fleeting?: boolean;
};

// The mark again, in colours that do on light and dark tabs; a constant, so that no page asks for /favicon.ico.
const favicon = html`<link
  rel="icon"
  href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 48 48'%3E%3Cpath fill='%233d5a94' d='M4 47V22a20 20 0 0 1 40 0v25z'/%3E%3Cpath fill='%23f4b942' d='M12 47V23a12 12 0 0 1 24 0v24z'/%3E%3Cpath fill='%233d5a94' d='M11 47V23a13 13 0 0 1 11.2-12.9L25 15v28.5z'/%3E%3C/svg%3E"
/>`;

/** `https://id.example.test/realm` as `id.example.test/realm`. */
function issuerName(issuer: string): string {
  const url = URL.parse(issuer);
  return url === null ? plain(issuer) : url.host + url.pathname.replace(/\/$/, '');
}

/** What the service calls itself, by its theme; else where it is. */
export const serviceName = (frame: Frame): string => plain(themeOf(frame).name ?? '') || issuerName(frame.issuer);

const outward = (href: string | undefined, text: string, new_tab: string) =>
  href !== undefined &&
  html`<a href="${href}" target="_blank" rel="noopener noreferrer">${text}<span class="hush"> ${new_tab}</span></a>`;

// Beside the mark, which says whose page this is. The name stands below: to a screen reader the picture adds nothing.
const markOf = (frame: Frame, { logo_hash }: Theme): Html => (logo_hash ? logo(frame, logo_hash) : mark);

const logo = ({ issuer }: Frame, hash: string): Html =>
  html`<img class="logo" src="${`${issuer}/logo/${hash}`}" alt="" width="48" height="48" />`;

export function page(
  frame: Frame,
  { title, heading, lead, body, client, scripts = [], style, wide = false, onward, fleeting = false }: Parts,
): Html {
  const t = frameSentences(frame.lang);
  const theme = themeOf(frame, client?.client_id);
  return html`<!doctype html>
    <html lang="${frame.lang}" dir="${directionOf(frame.lang)}">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        ${onward !== undefined && html`<meta http-equiv="refresh" content="0;url=${onward}" />`}
        ${favicon}
        <style nonce="${frame.nonce}">
          ${stylesheet}${themeStyle(theme)}${style}
        </style>
      </head>
      <body>
        <main${wide && html` class="wide"`}>
          <header>
            ${client?.logo_hash === undefined ? markOf(frame, theme) : html`<div class="marks">${markOf(frame, theme)}${logo(frame, client.logo_hash)}</div>`}
            <h1>${heading}</h1>
            ${lead !== undefined && html`<p>${lead}</p>`}
          </header>
          ${body}
        </main>
        <footer>
          ${theme.name && html`<b>${plain(theme.name)}</b>`} <span>${issuerName(frame.issuer)}</span>
          ${outward(client?.policy_uri ?? theme.policy_uri ?? undefined, t.privacy, t.new_tab)} ${outward(client?.tos_uri ?? theme.tos_uri ?? undefined, t.terms, t.new_tab)}
          ${frame.dev === true && html`<span lang="en">Development</span>`} ${!fleeting && languageSwitch(frame)}
        </footer>
        ${
          scripts.length > 0 &&
          html`<script nonce="${frame.nonce}">
            ${scripts};
          </script>`
        }
      </body>
    </html>`;
}

/** A form by itself, which works without JavaScript. Each language stands there as it calls itself. */
function languageSwitch({ choice, lang }: Frame): Html | undefined {
  if (choice === undefined) return undefined;
  const t = frameSentences(lang);
  return html`<form class="choice" method="post" action="${choice.action}">
    ${hidden({ return_to: choice.return_to })}
    <label class="hush" for="language">${t.language}</label>
    <select id="language" name="language">
      ${languages.map((each) => html`<option value="${each}" lang="${each}" ${each === lang && html` selected`}>${LANGUAGES[each]}</option>`)}
    </select>
    <button id="language-submit" class="button quiet">${t.switch_language}</button>
  </form>`;
}
