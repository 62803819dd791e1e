/** How far something is, on a terminal: one line of standard error that is written over. Elsewhere nothing is shown. */

export interface Progress {
  /** @param share of the whole, 0 to 1 */
  show(share: number, done: number): void;
  /** Takes the line away. */
  end(): void;
}

const WIDTH = 24;
/** Milliseconds: more often nobody reads it. */
const EVERY = 100;

/** @param unit what is counted, as `people` */
export function startProgress(what: string, unit: string, out: NodeJS.WriteStream = process.stderr): Progress {
  if (!out.isTTY) return { show: () => {}, end: () => {} };
  const began = performance.now();
  let last = Number.NEGATIVE_INFINITY;
  return {
    show(share, done) {
      const now = performance.now();
      if (now - last < EVERY) return;
      last = now;
      const seconds = (now - began) / 1000;
      const left = share > 0.02 ? `, ${Math.ceil((seconds / share) * (1 - share))} s left` : '';
      const full = Math.round(share * WIDTH);
      const bar = '█'.repeat(full) + '░'.repeat(WIDTH - full);
      const line = `${what} ${bar} ${Math.floor(share * 100)} % · ${done.toLocaleString('en')} ${unit}${left}`;
      out.write(`\r${line.slice(0, (out.columns ?? 80) - 1)}\u{1B}[K`);
    },
    end: () => void out.write('\r\u{1B}[K'),
  };
}
