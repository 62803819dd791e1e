/** Chance: the one place that draws it. */
import { randomBytes } from 'node:crypto';

/** n bytes from the system's CSPRNG. */
export const random = (bytes: number): Buffer => randomBytes(bytes);
