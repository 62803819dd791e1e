import { html, type Html } from './html.ts';
import { onward } from './icons.ts';
import { hidden } from './form.ts';
import { page, type Frame } from './layout.ts';
import { linkTo } from './link.ts';
import { copyButtons } from './script.ts';
import { errorSentences } from './sentences/error.ts';
import { frameSentences } from './sentences/frame.ts';

export type ErrorPageProps = {
  frame: Frame;
  /** The code, such as `invalid_request`. */
  error: string;
  error_description: string;
  request_id: string;
  /** What happened, in the person's words. */
  heading?: string | undefined;
  /** What the person can do. */
  advice?: string | undefined;
  /** The way on, and what is there: an application, or an address. With fields it is a form that posts them. */
  link?: { href: string; place: string; fields?: Record<string, string> | undefined } | undefined;
  /** For developers: label and value, such as the received beside the registered redirect_uri. */
  details?: readonly (readonly [label: string, value: string])[] | undefined;
};

export function errorPage(props: ErrorPageProps): Html {
  const { frame, error, error_description, request_id, link, details = [] } = props;
  const t = errorSentences(frame.lang);
  const common = frameSentences(frame.lang);
  const heading = props.heading ?? t.heading;

  return page(frame, {
    title: common.error_title({ title: heading }),
    heading,
    scripts: [copyButtons],
    lead: props.advice ?? t.advice,
    body: html`
      ${link && html`<div class="actions">${onwardControl(frame, link)}</div>`}
      <section class="small">
        <code class="tag" id="error">${error}</code>
        <p class="muted" lang="en" dir="ltr" id="error_description">${error_description}</p>
      </section>
      <details${frame.dev === true && html` open`}>
        <summary>${t.developers}</summary>
        <dl>
          ${details.map(
            ([label, value]) =>
              html`<dt lang="en">${label}</dt>
                <dd lang="en"><code>${value}</code></dd>`,
          )}
          <dt>${common.request_id}</dt>
          <dd class="beside"><code data-copy="${common.copy}|${common.copied}" data-called="${common.request_id}">${request_id}</code></dd>
        </dl>
        <p class="small muted">
          ${t.explained({ command: html`<code>postern explain</code>` })}
        </p>
      </details>
    `,
  });
}

function onwardControl({ lang }: Frame, { href, place, fields }: NonNullable<ErrorPageProps['link']>): Html {
  const text = frameSentences(lang).go_to({ place });
  if (fields === undefined) {
    return html`<a class="button strong" id="onward" href="${linkTo(href) ?? '#'}">${text} ${onward}</a>`;
  }
  return html`<form method="post" action="${href}">
    ${hidden(fields)}
    <button class="button strong" id="onward">${text} ${onward}</button>
  </form>`;
}
