/**
 * The room of everything a person sees: pure functions, props -> Html. It reads no request, no row and no clock, and
 * leaves headers, nonces and form tokens to http.
 *
 * This file is the only way to make markup. Whatever is interpolated is escaped, unless it is Html already.
 */

export type Interpolation = string | number | Html | null | undefined | false | readonly Interpolation[];

class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  /** By the private field, not by instanceof: an object out of JSON or with a borrowed prototype is not Html. */
  static is(value: unknown): value is Html {
    return typeof value === 'object' && value !== null && #markup in value;
  }

  toString(): string {
    return this.#markup;
  }
}
export type { Html };

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escape = (text: string) => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');

const urlAttribute = /\s(?:href|src|action|formaction)="$/;
const openAttribute = /="[^"<>]*$/;
const forbidden = /\s[\w-]+=\s*'?$|\s(?:on\w+|style)="[^"]*$|<(?:script|style)[^>]*>[^<]*$/i;

function render(value: Interpolation, before: string): string {
  if (Array.isArray(value)) return value.map((item: Interpolation) => render(item, before)).join('');
  if (Html.is(value)) {
    const markup = String(value);
    if (openAttribute.test(before) && /["<>]/.test(markup)) throw new TypeError('markup inside an attribute');
    return markup;
  }
  if (value === null || value === undefined || value === false) return '';
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw new TypeError(`cannot be interpolated in HTML: ${typeof value}`);
  }
  // An unquoted attribute, an inline handler or style (our CSP refuses them), text inside a script: never escapable.
  if (forbidden.test(before)) throw new TypeError(`cannot be interpolated here: ${before.slice(-40)}`);
  return urlAttribute.test(before) ? String(safeUrl(String(value))) : escape(String(value));
}

export function html(strings: TemplateStringsArray, ...values: readonly Interpolation[]): Html {
  const rest = values.map((value, index) => render(value, strings[index] ?? '') + (strings[index + 1] ?? ''));
  return new Html((strings[0] ?? '') + rest.join(''));
}

/** Markup that is a constant of this room: its stylesheet and its scripts. Never anything that came from outside. */
export const raw = (markup: string): Html => new Html(markup);

/**
 * The URL, escaped, if it is relative or of an allowed scheme; else `#`. Strings in href, src and action pass through
 * here by themselves; it is called only where a registered scheme of a native application is allowed too.
 */
export function safeUrl(url: string, allowedSchemes: readonly string[] = ['https:', 'http:']): Html {
  // Parsed as browsers do (WHATWG URL), so that `java\tscript:` and leading control characters cannot hide a scheme.
  const parsed = URL.parse(url, 'https://relative.invalid');
  const allowed = parsed !== null && allowedSchemes.includes(parsed.protocol) && !/[\p{Cc}\\]/u.test(url);
  return new Html(allowed ? escape(url) : '#');
}
