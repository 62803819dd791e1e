/** The memory of a server that runs for long. */
import { setFlagsFromString } from 'node:v8';

/** Percent that old objects may grow by until they are collected again. V8 itself chooses up to 300 where there is memory. */
const GROWTH = 50;

/** Has V8 collect old objects earlier: a quarter less memory for a few percent of processor time (docs/performance.md). */
export const collectEarlier = (): void => setFlagsFromString(`--heap-growing-percent=${GROWTH}`);
