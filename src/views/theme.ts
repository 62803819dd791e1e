/** A theme as pages wear it: a name, two colours, a logo of ours, and links. Nothing else of theirs reaches a page. */
import { raw, type Html } from './html.ts';

export type Theme = {
  name?: string | null | undefined;
  /** `#1d3157`: of links and main buttons, by day. */
  color?: string | null | undefined;
  color_dark?: string | null | undefined;
  /** The name of its logo with us. */
  logo_hash?: string | null | undefined;
  policy_uri?: string | null | undefined;
  tos_uri?: string | null | undefined;
};

/** What a page wears: what the client's theme says, and of the rest what the server's does. */
export function themeOf(
  { themes }: { themes?: ReadonlyMap<string | null, Theme> | undefined },
  client_id?: string,
): Theme {
  const [own, server] = [client_id === undefined ? undefined : themes?.get(client_id), themes?.get(null)];
  const said = Object.entries(own ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return { ...server, ...Object.fromEntries(said) };
}

/** The custom properties of the stylesheet that a theme sets. */
export function themeStyle({ color, color_dark }: Theme): Html | undefined {
  const [day, night] = [colors(color, '#fff', 'black'), colors(color_dark, '#211703', 'white')];
  if (day === '' && night === '') return undefined;
  return raw(`:root{${day}}@media (prefers-color-scheme:dark){:root{${night}}}`);
}

// A colour that is legible as text on the page is so as the ground of its opposite: the page is nearly white, or nearly black.
const colors = (color: string | null | undefined, on: string, towards: string): string =>
  color && /^#[0-9a-f]{6}$/.test(color)
    ? `--strong:${color};--link:${color};--on:${on};--over:color-mix(in srgb,${color} 85%,${towards})`
    : '';
