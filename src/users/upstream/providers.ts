/** Writes the providers that people may sign in with. Every change leaves an audit event, without the secret. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Deps } from '../../deps.ts';
import { changeOf } from '../../events/change.ts';
import { record, type Actor } from '../../events/index.ts';
import { isStorable } from '../../protocol/plain-text.ts';
import { upstreamFields, upstreamProblems, type UpstreamFields } from '../../protocol/upstream.ts';
import type { Trx } from '../../store/postgres/db.ts';
import * as links from '../../store/upstream-links.ts';
import * as store from '../../store/upstreams.ts';
import { sealSecret } from './secret.ts';

/** As it is written: a secret that is not named stays, and null takes it away. */
export const upstreamBody = z.strictObject({
  ...upstreamFields.shape,
  client_secret: z
    .string()
    .min(1)
    .max(8192)
    .refine(isStorable, 'must be text')
    .nullable()
    .optional()
    .describe('What is not sent stays as it is. For Apple the private key, PKCS #8 in PEM'),
});
export type UpstreamBody = z.output<typeof upstreamBody>;

const FIELDS = Object.keys(upstreamFields.shape) as Array<keyof UpstreamFields>;

/** What is registered of a provider, without what only the server knows. */
export const fieldsOf = (row: store.Upstream): UpstreamFields =>
  Object.fromEntries(FIELDS.map((name) => [name, row[name]])) as unknown as UpstreamFields;

/** Writes a provider, or replaces it. @throws ZodError */
export async function putUpstream(
  trx: Trx,
  deps: Pick<Deps, 'secrets'>,
  { client_secret, ...given }: UpstreamBody,
  by: Actor,
  now: Date,
): Promise<store.Upstream> {
  const { upstream } = given;
  const present = await store.findLocked(trx, upstream);
  const fields = upstreamFields.parse(given);
  const sealed_secret =
    client_secret === undefined
      ? (present?.sealed_secret ?? null)
      : client_secret === null
        ? null
        : sealSecret(deps, upstream, client_secret);
  const problems = upstreamProblems(fields).map(([member, message]) => ({ member: member as string, message }));
  if ((sealed_secret === null) !== (fields.token_endpoint_auth_method === 'none')) {
    const message = sealed_secret === null ? 'is needed, or token_endpoint_auth_method none' : 'is never shown to none';
    problems.push({ member: 'client_secret', message });
  }
  if (problems.length > 0) {
    throw new z.ZodRealError(
      problems.map(({ member, message }) => ({ code: 'custom' as const, path: [member], message, input: undefined })),
    );
  }
  const before = present && fieldsOf(present);
  if (present && client_secret === undefined && isDeepStrictEqual(before, fields)) return present;
  const row = { ...fields, sealed_secret, created_at: present?.created_at ?? now, updated_at: now };
  await store.put(trx, row);
  // Those of before as well: kept are none but where an operator wants it today.
  if (present?.keep_tokens && !fields.keep_tokens) await links.forgetTokens(trx, upstream);
  const detail = {
    name: upstream,
    ...changeOf(before, fields),
    ...(client_secret !== undefined && { client_secret_changed: true }),
  };
  await record(trx, { event: 'upstream_changed', detail }, by, now);
  return row;
}

/** Deletes a provider: nobody signs in with it from then on. False when there was none. */
export async function removeUpstream(trx: Trx, upstream: string, by: Actor, now: Date): Promise<boolean> {
  const before = await store.remove(trx, upstream);
  if (!before) return false;
  const detail = { name: upstream, ...changeOf(fieldsOf(before), undefined) };
  await record(trx, { event: 'upstream_deleted', detail }, by, now);
  return true;
}
