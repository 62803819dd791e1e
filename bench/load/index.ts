/** Load: the tool that sends it, and what it reports. */
import type { Amount, Load } from '../scenario.ts';
import { fireAutocannon } from './autocannon.ts';
import { fireWrk, hasWrk } from './wrk.ts';

/** What came of a round. Milliseconds. */
export interface Fired {
  requests: number;
  seconds: number;
  p50: number;
  p95: number;
  p99: number;
  errors: {
    /** Answers of 400 and above. */
    status: number;
    /** Connections refused or cut. */
    socket: number;
    timeout: number;
    /** Answers that should have brought the next request's value, and did not. */
    lost: number;
    /** Single-use values ran out before the time did: the rate is too low then. */
    dry: number;
  };
}

export type Fire = (origin: string, load: Load, amount: Amount) => Promise<Fired>;

const tools: Record<string, Fire> = { wrk: fireWrk, autocannon: fireAutocannon };

/** wrk, else autocannon, which is itself the bottleneck near the ceiling. @throws TypeError */
export function loadTool(name: string = hasWrk() ? 'wrk' : 'autocannon'): { name: string; fire: Fire } {
  const fire = tools[name];
  if (!fire) throw new TypeError(`--tool is ${name}: must be ${Object.keys(tools).join(' or ')}`);
  return { name, fire };
}

/** All of them; no answer at all is one, too. */
export const errorsOf = ({ requests, errors }: Fired): number =>
  Object.values(errors).reduce((sum, count) => sum + count, requests === 0 ? 1 : 0);
