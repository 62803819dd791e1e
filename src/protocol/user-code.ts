/** User codes (RFC 8628 §6.1): short enough to be typed, from an alphabet without vowels, so that none spells a word. */

const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

/** A code from random bytes, as it is shown: XXXX-XXXX. Bytes that would favour a letter are skipped. */
export function userCodeFrom(draw: (bytes: number) => Buffer): string {
  const fair = 256 - (256 % ALPHABET.length);
  let letters = '';
  while (letters.length < LENGTH) {
    for (const byte of draw(16))
      if (byte < fair && letters.length < LENGTH) letters += ALPHABET[byte % ALPHABET.length];
  }
  return showUserCode(letters);
}

/** A user code as people read it best: in two halves. */
export const showUserCode = (letters: string): string => `${letters.slice(0, 4)}-${letters.slice(4)}`;

/** The eight letters of what somebody typed, in any case, with any dashes and spaces; undefined when it cannot be a code. */
export function readUserCode(typed: string): string | undefined {
  const letters = typed.toUpperCase().replaceAll(/[\s\-–—_.]/g, '');
  return letters.length === LENGTH && [...letters].every((letter) => ALPHABET.includes(letter)) ? letters : undefined;
}
