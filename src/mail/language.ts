/** Which language somebody reads mail in. */
import { DEFAULT_LANGUAGE, lookUp, type Language } from '../languages/index.ts';

/** The language of the first of these tags that there is one for: of the claim `locale`, or of a request. */
export const languageOf = (...wanted: readonly unknown[]): Language =>
  lookUp(wanted.filter((tag) => typeof tag === 'string')) ?? DEFAULT_LANGUAGE;
