/** Reading why a request was refused, as an operator would: by the request id of its answer. */
import { findRefusals, type ExplainedRefusal } from '../../src/events/refusals.ts';
import type { TestApp } from './app.ts';

type Answered = { headers: Record<string, unknown> };

/** What is kept of a refusal; the only row of its request id. */
export async function refusalOf({ deps, clock }: TestApp, { headers }: Answered): Promise<ExplainedRefusal> {
  await deps.refusals.close(clock.now());
  const [refusal, ...more] = await findRefusals(deps, String(headers['x-request-id']));
  if (!refusal || more.length > 0) throw new Error(`${refusal ? more.length + 1 : 0} refusals are kept`);
  return refusal;
}
