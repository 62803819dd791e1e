import { safeUrl, type Html } from './html.ts';

/** A native application is at a scheme of its own; one that runs in our page was never registered, and is not followed. */
export function linkTo(url: string): Html | undefined {
  const scheme = URL.parse(url)?.protocol ?? '';
  const link = safeUrl(url, scheme.includes('.') ? [scheme] : undefined);
  return String(link) === '#' ? undefined : link;
}
