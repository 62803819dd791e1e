/** Names as people type them: one name in any case and any compatibility form (Unicode §5.18, UAX #15). */

/**
 * Full case folding (CaseFolding.txt, C and F) by what the engine has: down, up and down again makes ß, ẞ and SS one, and the
 * final sigma is a sigma. Only the dotless ı, which is no i, would become one on the way.
 */
const foldCase = (text: string): string =>
  text.replaceAll(/[^ı]+/gu, (part) => part.toLowerCase().toUpperCase().toLowerCase()).replaceAll('ς', 'σ');

/** The form in which names are compared, and kept from being given twice. */
export const foldName = (name: string): string => foldCase(name.normalize('NFKC')).normalize('NFKC');

/**
 * The form of before: only to lower case. Servers of the version before look names up by it, and whoever had a name that now
 * is another's as well goes on signing in by it.
 */
export const lowerName = (name: string): string => name.normalize('NFKC').toLowerCase().normalize('NFKC');

/** Names that speak for a service (after RFC 2142, and what products call their operators): nobody gets one by signing in elsewhere. */
const RESERVED = new Set(
  `abuse account accounts admin administration administrator anonymous api auth billing contact daemon everyone guest help helpdesk hostmaster
  info login mail mailer mailerdaemon marketing me moderator news nobody noc noreply null office operator operators owner postern postmaster
  privacy registrar root sales security self service settings staff ssl superuser support sysadmin sysop system team test undefined user users
  webmaster www`.split(/\s+/),
);

/** Would people take whoever has this name for the service itself? In any case, and with whatever stands between the letters. */
export const isReservedName = (name: string): boolean => RESERVED.has(foldName(name).replaceAll(/[^\p{L}]+/gu, ''));

/** A name that was drawn, since somebody came without one: they type their address instead. */
const DRAWN = /^(?:user-[0-9a-f]{16}|person-[0-9a-f]{8})$/;

/** What somebody is called where they have no other name, and what they sign in with: the address, where the username was drawn. */
export const typedName = ({ username, email }: { username: string; email: string | null }): string =>
  email !== null && DRAWN.test(username) ? email : username;
