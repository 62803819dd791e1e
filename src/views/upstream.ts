/** Providers on the sign-in page, and the question whether to connect one. */
import { plain, named, type ClientView } from './client.ts';
import { hidden } from './form.ts';
import { html, safeUrl, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import { sendOnce } from './script.ts';
import { upstreamSentences } from './sentences/upstream.ts';

/** A provider as its button shows it. */
export type UpstreamView = { upstream: string; label: string; icon: string | null };

/** A button for each, in a form of its own: nothing has to be typed for it. */
export const upstreamForm = (
  frame: Frame,
  upstreams: readonly UpstreamView[],
  { action, form_token }: { action: string; form_token: string },
): Html | false =>
  upstreams.length > 0 &&
  html`<form class="actions" method="post" action="${action}">
    ${hidden({ form_token })}
    <p class="muted small beyond">${upstreamSentences(frame.lang).or}</p>
    ${upstreams.map((each) => upstreamButton(frame, each))}
  </form>`;

/** One of them; the form it is in is told by `upstream`. */
export const upstreamButton = (frame: Frame, { upstream, label, icon }: UpstreamView): Html =>
  html`<button class="button" id="upstream-${upstream}" name="upstream" value="${upstream}">
    ${icon !== null && html`<img src="${picture(icon)}" alt="" class="logo" width="20" height="20" />`}
    <span>${upstreamSentences(frame.lang).go({ upstream: named(label) })}</span>
  </button>`;

/** A picture in the address itself, as the admin API takes it; a picture runs nothing. */
const picture = (icon: string): Html => safeUrl(icon.startsWith('data:image/') ? icon : '#', ['data:']);

export type ConnectPageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  client?: ClientView | null | undefined;
  label: string;
  /** How the person is known there. */
  name: string | null;
};

export function connectPage({ frame, action, form_token, client, label, name }: ConnectPageProps): Html {
  const t = upstreamSentences(frame.lang);
  return page(frame, {
    title: t.connect_title({ upstream: plain(label) }),
    heading: t.connect_title({ upstream: named(label) }),
    lead: t.connect_lead({ upstream: named(label) }),
    client,
    scripts: [sendOnce],
    body: html`${name !== null && html`<p class="note">${t.connect_as({ upstream: named(label), name: named(name) })}</p>`}
      <form method="post" action="${action}">
        ${hidden({ form_token })}
        <div class="actions">
          <button class="button strong" id="connect-submit" name="action" value="connect">${t.connect_submit}</button>
          <button class="button quiet" id="connect-later" name="action" value="later">${t.later}</button>
        </div>
      </form>`,
  });
}
