/** The grammar of what operators send in headers: the doors read by it, and the document shows it. */

/** An entity tag (RFC 9110 §8.8.3). */
export const ENTITY_TAG = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';

/** If-Match (RFC 9110 §13.1.1): `*`, or tags with nothing but commas and space between them (§5.6.1). */
export const IF_MATCH = `^(?:\\*|[ \\t,]*${ENTITY_TAG}(?:[ \\t]*,[ \\t,]*${ENTITY_TAG})*[ \\t,]*)$`;

/** An Idempotency-Key: visible ASCII, with or without the quotes of a structured field's string. */
export const IDEMPOTENCY_KEY = '^"?[\\x21\\x23-\\x7e]{1,255}"?$';
