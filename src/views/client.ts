/** How an application and a person are named. Names come from strangers, so they may say anything, but only as text. */
import { html, type Html, type Interpolation } from './html.ts';

export type ClientView = {
  client_id: string;
  client_name: string;
  /** The host of client_uri. */
  client_host?: string | undefined;
  /** The name of its logo with us. There is no way to show one that we did not fetch and do not serve. */
  logo_hash?: string | undefined;
  policy_uri?: string | undefined;
  tos_uri?: string | undefined;
  registered_by?: 'operator' | 'self' | undefined;
};

export type PersonView = { name: string; email?: string | undefined };

const graphemes = new Intl.Segmenter();
const first = (text: string, count: number) =>
  Array.from(graphemes.segment(text), ({ segment }) => segment)
    .slice(0, count)
    .join('');

/** One line without control and direction characters (they could rewrite the sentence around it), at most 64 long. */
export function plain(text: string): string {
  const line = text
    .slice(0, 1000)
    .replaceAll(/[\p{Cc}\p{Cs}\p{Bidi_Control}\s]+/gu, ' ')
    .trim();
  const short = first(line, 64);
  return short === line ? line : `${short.trimEnd()}…`;
}

export const clientName = (client: ClientView): string => plain(client.client_name) || plain(client.client_id);

/** For headings and sentences: bdi keeps a right-to-left name from reordering what surrounds it. */
export const named = (name: string): Html => html`<bdi>${plain(name)}</bdi>`;

export const namedClient = (client: ClientView): Html => html`<bdi>${clientName(client)}</bdi>`;

export const face = (name: string): Html =>
  html`<span class="face" aria-hidden="true">${first(plain(name), 1) || '?'}</span>`;

/** Who is signed in, with room for a way out of being them. */
export function who(person: PersonView, aside?: Interpolation): Html {
  return html`<div class="who">
    ${face(person.name)}
    <div>
      <b>${named(person.name)}</b>
      ${person.email !== undefined && html`<span class="small muted">${plain(person.email)}</span>`}
    </div>
    ${aside}
  </div>`;
}
