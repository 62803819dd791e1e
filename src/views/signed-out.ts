import { listIn } from '../languages/intl.ts';
import { named, namedClient, type ClientView, type PersonView } from './client.ts';
import { html, type Html } from './html.ts';
import { onward } from './icons.ts';
import { page, serviceName, type Frame } from './layout.ts';
import { linkTo } from './link.ts';
import { leaveAfterFrames } from './script.ts';
import { frameSentences } from './sentences/frame.ts';
import { logoutSentences } from './sentences/logout.ts';

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
  const t = logoutSentences(frame.lang);
  const issuer = serviceName(frame);
  const back = return_url === undefined ? undefined : linkTo(return_url);
  const by_itself = back !== undefined && place === undefined;
  return page(frame, {
    title: t.done,
    heading: t.done,
    lead:
      others.length === 0
        ? t.done_lead({ issuer })
        : [t.done_but({ issuer }), ' ', t.others({ count: others.length, people: people(frame, others) })],
    client,
    fleeting: by_itself,
    onward: by_itself ? return_url : undefined,
    scripts: by_itself ? [leaveAfterFrames] : [],
    body: html`
      ${
        notified.length > 0 &&
        html`<section>
          <h2>${t.told}</h2>
          <ul class="list" id="logout-told">
            ${notified.map((name) => html`<li>${named(name)}</li>`)}
          </ul>
        </section>`
      }
      <p class="small muted">${notified.length > 0 ? t.others_keep : t.used_keep}</p>
      ${
        back &&
        html`<div class="actions">
          <a class="button strong" id="logout-continue" href="${back}"
            ><span
              >${place === undefined ? (client ? t.back_to({ client: namedClient(client) }) : t.back) : frameSentences(frame.lang).go_to({ place })}</span
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
            title="${t.sign_out}"
            sandbox="allow-scripts allow-same-origin"
            referrerpolicy="no-referrer"
            hidden
          ></iframe>`,
      )}
    `,
  });
}

const people = ({ lang }: Frame, others: readonly PersonView[]) =>
  listIn(
    lang,
    others.map(({ name }) => named(name)),
  );
