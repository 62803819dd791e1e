/** How a theme looks before it is kept, in development only: what pages are made of, and how legible its colours are. */
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import type { Theme } from './theme.ts';

export type DevThemePageProps = {
  frame: Frame;
  theme: Theme;
  /** Each colour with its least contrast on our pages, and whether that is enough; null where it is no colour. */
  contrasts: ReadonlyArray<readonly [label: string, found: string | null, legible: boolean]>;
  /** The command that keeps it. */
  command: string;
};

const sentences = {
  title: 'Theme',
  lead: 'Try a name and colours. Nothing is kept until the command below is run.',
  name: 'Name',
  color: 'Colour by day',
  color_dark: 'Colour by night',
  try: 'Try',
  legible: 'legible',
  illegible: 'not legible: the admin API refuses it',
  no_color: 'not a colour written as #1d3157: the admin API refuses it',
  sample: 'A page has',
  link: 'links',
  button: 'A main button',
  plain: 'Another button',
  note: 'A note with a',
  keep: 'Keep it',
};

export function devThemePage({ frame, theme, contrasts, command }: DevThemePageProps): Html {
  const field = (name: 'name' | 'color' | 'color_dark') =>
    html`<div class="field">
      <label for="theme-${name}">${sentences[name]}</label>
      <input id="theme-${name}" name="${name}" value="${theme[name] ?? ''}" spellcheck="false" />
    </div>`;
  // The properties of a theme are those of the page that shows it.
  return page(
    { ...frame, themes: new Map([[null, theme]]) },
    {
      title: sentences.title,
      heading: sentences.title,
      lead: sentences.lead,
      body: html`<form>
          ${field('name')} ${field('color')} ${field('color_dark')}
          <button class="button strong" id="theme-try">${sentences.try}</button>
        </form>
        ${
          contrasts.length > 0 &&
          html`<section>
            <dl>
              ${contrasts.map(
                ([label, found, legible]) =>
                  html`<dt>${label}</dt>
                    <dd>
                      ${found === null ? sentences.no_color : `${found}: ${legible ? sentences.legible : sentences.illegible}`}
                    </dd>`,
              )}
            </dl>
          </section>`
        }
        <section>
          <p>${sentences.sample} <a href="#theme-name">${sentences.link}</a></p>
          <p class="note">${sentences.note} <a href="#theme-name">${sentences.link}</a></p>
          <div class="actions">
            <span class="button strong">${sentences.button}</span>
            <span class="button">${sentences.plain}</span>
          </div>
        </section>
        <section>
          <h2>${sentences.keep}</h2>
          <p><code id="theme-command">${command}</code></p>
        </section>`,
    },
  );
}
