/** The frame around every page of the account: the frame of all pages, and the ways from one to another. */
import { html, type Html } from '../html.ts';
import { page, type Frame, type Parts } from '../layout.ts';
import { titled } from '../form.ts';
import { accountSentences } from '../sentences/account.ts';
import { overviewSentences } from '../sentences/overview.ts';
import { accountStyle } from './style.ts';

/** The pages: each has two sentences, what it is called and what it is for (`accountSentences`). */
type Said = ReturnType<typeof accountSentences>;
type AccountPageKey = { [K in keyof Said]: `${K}_is` extends keyof Said ? K : never }[keyof Said];

/** A page of the account that one can go to. */
type Way = { name: AccountPageKey; href: string; current: boolean };

export type AccountFrame = Frame & { ways: readonly Way[]; logout_url: string };

/** What a page is called. */
const titleOf = ({ lang }: Frame, name: AccountPageKey): string => accountSentences(lang)[name];

type AccountParts = Omit<Parts, 'title' | 'heading' | 'style'> & {
  name: AccountPageKey;
  /** Shown again because of a problem: the title says so. */
  problem?: string | undefined;
  /** What was just done, as a sentence. */
  done?: string | undefined;
};

/** A page of the account. */
export function accountPage(frame: AccountFrame, { name, problem, done, body, ...parts }: AccountParts): Html {
  const title = titleOf(frame, name);
  return page(frame, {
    title: titled(frame, title, problem),
    heading: title,
    ...parts,
    style: accountStyle,
    body: html`${name !== 'overview' && menu(frame, name)}
    ${done !== undefined && html`<p class="note" id="done" role="status">${done}</p>`} ${body}`,
  });
}

/** The ways to the other pages, as rows with what each is for. */
export const waysOn = ({ ways, lang }: AccountFrame): Html | false =>
  ways.length > 1 &&
  html`<nav aria-label="${accountSentences(lang).navigation}">
    <ul class="ways">
      ${ways
        .filter(({ current }) => !current)
        .map(
          ({ name, href }) =>
            html`<li>
              <a class="button row" id="account-${name}" href="${href}">
                <span
                  ><b>${accountSentences(lang)[name]}</b> <small>${accountSentences(lang)[`${name}_is`]}</small></span
                >
              </a>
            </li>`,
        )}
    </ul>
  </nav>`;

/** Pages where signing out stands among what they are about. */
const SIGNS_OUT: readonly AccountPageKey[] = ['overview', 'sessions'];

/** The same on a page of its own: folded, so that at 320 px what the page is about comes first. */
const menu = ({ ways, lang, logout_url }: AccountFrame, name: AccountPageKey): Html =>
  html`<nav class="menu" aria-label="${accountSentences(lang).navigation}">
    <details>
      <summary>${accountSentences(lang).menu}</summary>
      <ul>
        ${ways.map(
          ({ name, href, current }) =>
            html`<li>
              <a id="account-${name}" href="${href}" ${current && html` aria-current="page"`}
                >${accountSentences(lang)[name]}</a
              >
            </li>`,
        )}
      </ul>
    </details>
    ${!SIGNS_OUT.includes(name) && html`<a class="leave" id="account-logout" href="${logout_url}">${overviewSentences(lang).sign_out}</a>`}
  </nav>`;
