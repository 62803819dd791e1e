/** NumericDate (RFC 7519 §2): whole seconds since the epoch, and arithmetic in seconds on the dates we store. */

/** A day, in seconds. */
export const DAY = 86_400;

/** Whole seconds since the epoch (RFC 7519 §2). */
export const numericDate = (date: Date): number => Math.floor(date.getTime() / 1000);

/** The date so many seconds later; negative is earlier. */
export const secondsAfter = (date: Date, seconds: number): Date => new Date(date.getTime() + seconds * 1000);

/** Whole seconds from `now` until `date`, never less than 0. */
export const secondsUntil = (date: Date, now: Date): number =>
  Math.max(0, Math.floor((date.getTime() - now.getTime()) / 1000));

/** The earlier of two dates. */
export const earlier = (a: Date, b: Date): Date => (a < b ? a : b);
