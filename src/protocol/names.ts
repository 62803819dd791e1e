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
