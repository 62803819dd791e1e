import { html, type Html } from './html.ts';
import { onward } from './icons.ts';
import { hidden } from './form.ts';
import { page, type Frame } from './layout.ts';
import { linkTo } from './link.ts';
import { copyButtons } from './script.ts';

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
  /** The way on. With fields it is a form that posts them. */
  link?: { href: string; text: string; fields?: Record<string, string> | undefined } | undefined;
  /** For developers: label and value, such as the received beside the registered redirect_uri. */
  details?: readonly (readonly [label: string, value: string])[] | undefined;
};

export function errorPage(props: ErrorPageProps): Html {
  const { frame, error, error_description, request_id, link, details = [] } = props;
  const heading = props.heading ?? 'This request can’t continue';

  return page(frame, {
    title: `Error: ${heading}`,
    heading,
    scripts: [copyButtons],
    lead:
      props.advice ??
      'Go back to the application you came from and try again. If it happens again, tell the people who run it.',
    body: html`
      ${link && html`<div class="actions">${onwardControl(link)}</div>`}
      <section class="small">
        <code class="tag" id="error">${error}</code>
        <p class="muted" id="error_description">${error_description}</p>
      </section>
      <details${frame.dev === true && html` open`}>
        <summary>Details for developers</summary>
        <dl>
          ${details.map(
            ([label, value]) =>
              html`<dt>${label}</dt>
                <dd><code>${value}</code></dd>`,
          )}
          <dt>Request id</dt>
          <dd class="beside"><code data-copy="Copy|Copied" aria-label="request id">${request_id}</code></dd>
        </dl>
        <p class="small muted">
          Those who run this server can look up this request id (<code>postern explain</code>). RFC 6749 and OpenID Connect Core explain the error code.
        </p>
      </details>
    `,
  });
}

function onwardControl({ href, text, fields }: NonNullable<ErrorPageProps['link']>): Html {
  if (fields === undefined) {
    return html`<a class="button strong" id="onward" href="${linkTo(href) ?? '#'}">${text} ${onward}</a>`;
  }
  return html`<form method="post" action="${href}">
    ${hidden(fields)}
    <button class="button strong" id="onward">${text} ${onward}</button>
  </form>`;
}
