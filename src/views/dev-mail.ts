import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';

const sentences = {
  title: 'Mail of development mode',
  heading: 'Mail',
  lead: 'Every mail that this server would send, the latest first. Only development mode has this page.',
  none: 'None so far.',
  whole: 'The whole mail',
  html: 'As HTML',
  json: 'As JSON',
};

export type DevMailPageProps = {
  frame: Frame;
  json_url: string;
  letters: ReadonlyArray<{
    to: string;
    at: string;
    state: string;
    subject: string;
    text: string;
    links: readonly string[];
    html_url: string;
  }>;
};

export function devMailPage({ frame, letters, json_url }: DevMailPageProps): Html {
  return page(frame, {
    title: sentences.title,
    heading: sentences.heading,
    lead: sentences.lead,
    wide: true,
    body: html`${letters.length === 0 && html`<p>${sentences.none}</p>`}
      ${letters.map(
        ({ to, at, state, subject, text, links, html_url }) =>
          html`<section>
            <h2>${subject}</h2>
            <p class="small muted">${to}, ${at}, ${state}</p>
            ${codes(text).map((code) => html`<p><b>${code}</b></p>`)}
            ${links.map((link) => html`<p><a href="${link}">${link}</a></p>`)}
            <details>
              <summary>${sentences.whole}</summary>
              <pre>${text}</pre>
              <p><a href="${html_url}">${sentences.html}</a></p>
            </details>
          </section>`,
      )}
      <p class="small"><a href="${json_url}">${sentences.json}</a></p>`,
  });
}

/** Codes stand on lines of their own, so that people see them: here, too. */
const codes = (text: string): string[] => text.match(/^ +\d{6}$/gm)?.map((line) => line.trim()) ?? [];
