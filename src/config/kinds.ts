/** The kinds of values that variables have: each reads text, and says what it should have been. */
import { z } from 'zod';

/** A whole number without a default. */
export const number = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max));

/** A whole number. */
export const integer = (min: number, max: number, fallback: number) => number(min, max).default(fallback);

/** A duration. */
export const seconds = (min: number, max: number, fallback: number) => integer(min, max, fallback);

/** Entries between commas. */
export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

/** Is it an address that a browser could open? */
export const isWebUrl = (text: string): boolean => /^https?:/.test(text) && URL.canParse(text);

/** The name of a file. Of one that is not there the system would quote what was meant to be in it: secrets have many lines. */
export const fileName = z.string().regex(/^[^\n]+$/, 'must be the name of a file, not what is in it');

/** An http or https URL. */
export const webUrl = z.string().refine(isWebUrl, 'must be an http or https URL');
