/** The frame around every page of the account: the frame of all pages, and the ways from one to another. */
import { html, type Html } from '../html.ts';
import { page, type Frame, type Parts } from '../layout.ts';
import { accountStyle } from './style.ts';

/** What each page is called, and what it is for: a row a page. */
const titles = {
  overview: { title: 'Your account', sentence: 'Who you are here, and the way to everything else' },
  email: { title: 'Email address', sentence: 'Where mail about your account goes' },
  passkeys: { title: 'Passkeys', sentence: 'Sign in with your fingerprint, your face or your device' },
  authenticator: { title: 'Authenticator app', sentence: 'A code from your phone after the password' },
  recovery_codes: { title: 'Recovery codes', sentence: 'For the day you lose your second step' },
  sessions: { title: 'Where you are signed in', sentence: 'Browsers and devices, and how to sign them out' },
  applications: { title: 'Connected applications', sentence: 'What they may do, and how to take it back' },
  data: { title: 'Your data', sentence: 'A copy of everything kept about you' },
  delete: { title: 'Delete your account', sentence: 'For good, after a week in which you may come back' },
  connections: { title: 'Connected accounts', sentence: 'Accounts elsewhere that you can sign in with' },
};
export type AccountPageKey = keyof typeof titles;

const sentences = { menu: 'All of your account', navigation: 'Your account' };

/** A page of the account that one can go to. */
export type Way = { name: AccountPageKey; href: string; current: boolean };

export type AccountFrame = Frame & { ways: readonly Way[] };

/** What a page is called. */
export const titleOf = (name: AccountPageKey): string => titles[name].title;

type AccountParts = Omit<Parts, 'title' | 'heading' | 'style'> & {
  name: AccountPageKey;
  /** Shown again because of a problem: the title says so. */
  problem?: string | undefined;
  /** What was just done, as a sentence. */
  done?: string | undefined;
};

/** A page of the account. */
export function accountPage(frame: AccountFrame, { name, problem, done, body, ...parts }: AccountParts): Html {
  const { title } = titles[name];
  return page(frame, {
    title: problem === undefined ? title : `Error: ${title}`,
    heading: title,
    ...parts,
    style: accountStyle,
    body: html`${name !== 'overview' && menu(frame)}
    ${done !== undefined && html`<p class="note" id="done" role="status">${done}</p>`} ${body}`,
  });
}

/** The ways to the other pages, as rows with what each is for. */
export const waysOn = ({ ways }: AccountFrame): Html | false =>
  ways.length > 1 &&
  html`<nav aria-label="${sentences.navigation}">
    <ul class="ways">
      ${ways
        .filter(({ current }) => !current)
        .map(
          ({ name, href }) =>
            html`<li>
              <a class="button row" id="account-${name}" href="${href}">
                <span><b>${titles[name].title}</b> <small>${titles[name].sentence}</small></span>
              </a>
            </li>`,
        )}
    </ul>
  </nav>`;

/** The same on a page of its own: folded, so that at 320 px what the page is about comes first. */
const menu = ({ ways }: AccountFrame): Html =>
  html`<nav class="menu" aria-label="${sentences.navigation}">
    <details>
      <summary>${sentences.menu}</summary>
      <ul>
        ${ways.map(
          ({ name, href, current }) =>
            html`<li>
              <a id="account-${name}" href="${href}" ${current && html` aria-current="page"`}>${titles[name].title}</a>
            </li>`,
        )}
      </ul>
    </details>
  </nav>`;
