/** Text that can be stored and shown: no controls, no direction tricks, no half characters. */

/** Also finds U+0000 and lone surrogates that JSON has escaped. */
export const isPlainText = (text: string): boolean =>
  text.isWellFormed() && !/\p{C}/u.test(text) && !/\\u(?:0000|d[89a-f])/i.test(text);
