/** Drawings, all inline: no page fetches anything. They are decoration; the words beside them say what they mean. */
import { html } from './html.ts';

/** A postern: a small gate in a wall, its door ajar, and light behind it. */
export const mark = html`<svg class="mark" viewBox="0 0 48 48" width="48" height="48" aria-hidden="true">
  <path class="wall" d="M4 47V22a20 20 0 0 1 40 0v25z" />
  <path class="lamp" d="M12 47V23a12 12 0 0 1 24 0v24z" />
  <path class="wall" d="M11 47V23a13 13 0 0 1 11.2-12.9L25 15v28.5z" />
  <circle class="lamp" cx="21.5" cy="30" r="1.6" />
</svg>`;

const icon = (d: string, name = 'icon') =>
  html`<svg class="${name}" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="${d}" /></svg>`;

export const check = icon('M4 10.5l4 4 8-9');
export const cross = icon('M5 5l10 10M15 5L5 15');
export const plus = icon('M10 4v12M4 10h12');
export const onward = icon('M4 10h12M11 5l5 5-5 5', 'icon forth');
export const person = icon('M10 10a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3.5 17a6.5 6 0 0 1 13 0');
export const key = icon('M8 9.5a3.5 3.5 0 1 0-3 5.3A3.5 3.5 0 0 0 8 9.5zL16.5 3M13 6.2l2.5 2.5');
export const moon = icon('M16 11.8A6.5 6.5 0 1 1 8.2 4a5.3 5.3 0 0 0 7.8 7.8z');
