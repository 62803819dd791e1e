import { named, namedClient, type ClientView, type PersonView } from './client.ts';
import { html, type Html } from './html.ts';
import { onward } from './icons.ts';
import { issuerName, page, type Frame } from './layout.ts';
import { linkTo } from './link.ts';
import { leaveAfterFrames } from './script.ts';

export type SignedOutPageProps = {
  frame: Frame;
  client?: ClientView | null | undefined;
  /** Where the page goes on by itself: registered for the client, of whatever scheme. */
  return_url?: string | undefined;
  /** The address, in short, where nobody goes on but by a click. */
  place?: string | undefined;
  /** The names of the applications that are notified. */
  notified?: readonly string[];
  /** Pages of these, by which they are notified. */
  frames?: readonly string[];
  /** Who is still signed in in this browser. */
  others?: readonly PersonView[];
};

export function signedOutPage(props: SignedOutPageProps): Html {
  const { frame, client, return_url, place, notified = [], frames = [], others = [] } = props;
  const back = return_url === undefined ? undefined : linkTo(return_url);
  const by_itself = back !== undefined && place === undefined;
  return page(frame, {
    title: 'Signed out',
    heading: 'Signed out',
    lead:
      others.length === 0
        ? html`You are signed out of ${issuerName(frame.issuer)} in this browser.`
        : html`You are signed out of ${issuerName(frame.issuer)}. ${people(others)} still signed in in this browser.`,
    client,
    fleeting: by_itself,
    onward: by_itself ? return_url : undefined,
    scripts: by_itself ? [leaveAfterFrames] : [],
    body: html`
      ${
        notified.length > 0 &&
        html`<section>
          <h2>These applications are told</h2>
          <ul class="list" id="logout-told">
            ${notified.map((name) => html`<li>${named(name)}</li>`)}
          </ul>
        </section>`
      }
      <p class="small muted">
        ${notified.length > 0 ? 'Others' : 'Applications you used'} may keep you signed in on their own. On a shared
        computer, sign out of them too.
      </p>
      ${
        back &&
        html`<div class="actions">
          <a class="button strong" id="logout-continue" href="${back}"
            ><span
              >${place === undefined ? html`Back to ${client ? namedClient(client) : 'the application'}` : `Go to ${place}`}</span
            >
            ${onward}</a
          >
        </div>`
      }
      ${frames.map(
        (url) =>
          // They may run and read their own cookies, and move nothing but themselves.
          html`<iframe
            src="${url}"
            title="Sign-out"
            sandbox="allow-scripts allow-same-origin"
            referrerpolicy="no-referrer"
            hidden
          ></iframe>`,
      )}
    `,
  });
}

const people = (others: readonly PersonView[]): Html =>
  html`${others.map(({ name }, index) => html`${index > 0 && ', '}${named(name)}`)}
  ${others.length === 1 ? 'is' : 'are'}`;
