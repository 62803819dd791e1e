/** Mailboxes (RFC 5322 §3.4): one address, and perhaps a name before it; never a list, a group, or a line more. */

/** An address with the name that is shown for it. */
export interface Mailbox {
  name: string;
  address: string;
}

// Without what separates addresses or ends a header, and without quoted local parts, which nobody has.
const ADDRESS = /^[^\s@"(),:;<>[\\\]\p{C}\p{Z}\p{DI}]{1,64}@[^\s@"(),:;<>[\\\]\p{C}\p{Z}\p{DI}]{1,255}$/u;
const NAMED = /^"?([^"<>\p{C}]{0,200}?)"?\s*<([^<>\s]+)>$/u;

/** Can mail be sent to it? What an account has as its address may have been written down by somebody who never did. */
export const isMailable = (address: string): boolean => ADDRESS.test(address);

/** Reads `Example <no-reply@example.com>` or the address alone; undefined for anything else. */
export function mailboxOf(text: string): Mailbox | undefined {
  const [, name = '', address = text] = NAMED.exec(text) ?? [];
  return isMailable(address) ? { name: name.trim(), address } : undefined;
}

/**
 * The name of a domain in the one form that compares (UTS #46): `EXAMPLE.com`, and the same in wide letters, are
 * `example.com`; undefined for what is no name. A URL would take more for one: what stands before a `/`, or an address of numbers.
 */
export function domainNamed(text: string): string | undefined {
  if (text.length > 253 || !/^[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}.-]*[\p{L}\p{M}\p{N}])?$/u.test(text))
    return undefined;
  return URL.parse(`http://${text}`)?.hostname;
}

/** The domain of an address; undefined for none that has a name. */
export const domainOf = (address: string): string | undefined =>
  domainNamed(address.slice(address.lastIndexOf('@') + 1));

/** One line for a header: whatever would end it is a space. */
export const headerText = (text: string, most = 200): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, most);
