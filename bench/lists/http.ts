/** Requests of an operator's program, with the time each takes. */
import { Pool } from 'undici';
import { ADMIN_PATH } from '../../src/admin/index.ts';

const WARM_UP = 5;
/** So many are timed. */
export const REQUESTS = 40;

const share = (sorted: readonly number[], part: number): number => sorted[Math.ceil(sorted.length * part) - 1]!;

/** Asks over one connection: `times` for one page again and again. */
export function listClient(origin: string, token: string) {
  const pool = new Pool(origin, { connections: 1, pipelining: 1 });
  const get = async (
    path: string,
  ): Promise<{ status: number; body: { items: unknown[]; next_cursor: string | null } }> => {
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path: `${ADMIN_PATH}${path}`,
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: statusCode, body: (await body.json()) as { items: unknown[]; next_cursor: string | null } };
  };
  return {
    get,
    close: () => pool.close(),
    async times(path: string): Promise<{ p50: number; p95: number }> {
      for (let n = 0; n < WARM_UP; n += 1) await get(path);
      const times: number[] = [];
      for (let n = 0; n < REQUESTS; n += 1) {
        const began = performance.now();
        const { status } = await get(path);
        times.push(performance.now() - began);
        if (status !== 200) throw new Error(`${path} answered ${status}`);
      }
      const sorted = times.toSorted((a, b) => a - b);
      return { p50: share(sorted, 0.5), p95: share(sorted, 0.95) };
    },
  };
}
