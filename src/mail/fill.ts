/**
 * The language of templates: `{{name}}` is the value, escaped where the template is HTML; `{{#name}}…{{/name}}` is shown for
 * each entry of a list (which is `{{.}}`), or once for a value that is there.
 */

/** What a template is filled with. */
export type Values = Readonly<Record<string, string | readonly string[] | undefined>>;

const SECTION = /\{\{#(\w+)\}\}([\s\S]*?)\{\{\/\1\}\}/g;
const PLACE = /\{\{(\w+|\.)\}\}/g;

/** Fills a template. Values are never read as templates. */
export function fill(template: string, values: Values, escape: (text: string) => string = (text) => text): string {
  let filled = '';
  let end = 0;
  for (const match of template.matchAll(SECTION)) {
    const [whole, name, inner] = match as unknown as [string, string, string];
    filled += plain(template.slice(end, match.index), values, escape);
    const value = values[name];
    const entries = value === undefined || value === '' ? [] : typeof value === 'string' ? [value] : value;
    for (const entry of entries) filled += plain(inner, { ...values, '.': entry }, escape);
    end = match.index + whole.length;
  }
  return filled + plain(template.slice(end), values, escape);
}

const plain = (text: string, values: Values, escape: (text: string) => string): string =>
  text.replaceAll(PLACE, (_place, name: string) => {
    const value = values[name] ?? '';
    return escape(typeof value === 'string' ? value : value.join('\n'));
  });

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** For HTML, also inside attributes in double quotes. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
