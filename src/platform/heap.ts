/** The memory of a server that runs for long. */
import { setFlagsFromString } from 'node:v8';

/**
 * Has V8 collect old objects once they have grown by half, not by up to four times, and not guess which new ones will grow old:
 * what a request makes dies with it, whatever a quiet first second looked like. What both are worth is in docs/performance.md.
 */
export function tuneHeap(): void {
  setFlagsFromString('--heap-growing-percent=50');
  setFlagsFromString('--no-allocation-site-pretenuring');
}
