/** What of a sign-in with a provider is kept sealed: what a visit is bound to, who came back, and their tokens. */
import { z } from 'zod';
import type { Deps } from '../../deps.ts';
import type { HandleKey } from '../../protocol/handle.ts';
import * as links from '../../store/upstream-links.ts';

type Sealing = Pick<Deps, 'secrets'>;

/** Where somebody goes on from once they are back. */
const way = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('interaction'), id: z.string() }),
  /** This server's own sign-in page; `to` names a page of the account. */
  z.object({ kind: z.literal('login'), to: z.string().optional() }),
  /** The account page: the person wants to connect it with an account that is theirs by their session. */
  z.object({ kind: z.literal('connect'), sub: z.string(), sid: z.string() }),
]);
export type Way = z.infer<typeof way>;

/** What a visit is bound to. */
const visit = z.object({
  nonce: z.string(),
  code_verifier: z.string(),
  way,
  fresh: z.boolean(),
  max_age: z.number().optional(),
  /** Has it to say when the person signed in? */
  needs_auth_time: z.boolean().default(false),
  /** To whom it went: what is registered of a provider may be another by the time of the answer. */
  issuer: z.string(),
  client_id: z.string(),
});
export type Visit = z.infer<typeof visit>;

/** Somebody who came back, and is to be connected with an account. */
const waiting = z.object({ issuer: z.string(), upstream_sub: z.string(), name: z.string().nullable(), way });
export type Waiting = z.infer<typeof waiting>;

const labelOf = (what: string, { hash }: Pick<HandleKey, 'hash'>): string =>
  `the ${what} of the visit to an upstream ${hash.toString('base64url')}`;

export const sealVisit = ({ secrets }: Sealing, key: HandleKey, what: Visit): Buffer =>
  secrets.seal(Buffer.from(JSON.stringify(what)), labelOf('secrets', key));

export const sealWaiting = ({ secrets }: Sealing, key: HandleKey, who: Waiting): Buffer =>
  secrets.seal(Buffer.from(JSON.stringify(who)), labelOf('person', key));

/** Undefined where its key is gone from SECRET_KEYS: it lives for an hour, so nobody seals it anew. */
export const openVisit = (deps: Sealing, row: HandleKey & { sealed: Buffer }): Visit | undefined =>
  openAs(deps, visit, row.sealed, labelOf('secrets', row));

/** The same of somebody who waits. */
export const openWaiting = (deps: Sealing, row: HandleKey & { sealed_identity: Buffer | null }): Waiting | undefined =>
  row.sealed_identity === null ? undefined : openAs(deps, waiting, row.sealed_identity, labelOf('person', row));

function openAs<T>({ secrets }: Sealing, schema: z.ZodType<T>, sealed: Buffer, label: string): T | undefined {
  let plain: Buffer;
  try {
    plain = secrets.open(sealed, label);
  } catch {
    return undefined;
  }
  return schema.parse(JSON.parse(plain.toString()));
}

/** Bound into the sealing of tokens: those of one person are never another's. */
const tokensLabelOf = ({ upstream, issuer, upstream_sub }: links.UpstreamLinkKey): string =>
  `the tokens of ${JSON.stringify([upstream, issuer, upstream_sub])} from an upstream`;

export const sealTokens = ({ secrets }: Sealing, key: links.UpstreamLinkKey, tokens: object): Buffer =>
  secrets.seal(Buffer.from(JSON.stringify(tokens)), tokensLabelOf(key));

/** How many connections are looked at in a statement. */
const PAGE = 500;

/** Does something with each connection whose tokens are kept. */
async function eachWithTokens(
  { db }: Pick<Deps, 'db'>,
  work: (link: links.UpstreamLink & { sealed_tokens: Buffer }) => Promise<void> | void,
): Promise<void> {
  for (let after: links.UpstreamLink | undefined; ;) {
    const rows = await links.withTokens(db, after, PAGE);
    for (const { sealed_tokens, ...row } of rows) if (sealed_tokens) await work({ ...row, sealed_tokens });
    if (rows.length < PAGE) return;
    after = rows.at(-1);
  }
}

function areLost({ secrets }: Sealing, link: links.UpstreamLink & { sealed_tokens: Buffer }): boolean {
  try {
    secrets.open(link.sealed_tokens, tokensLabelOf(link));
    return false;
  } catch {
    return true;
  }
}

/** Seals tokens under the first of SECRET_KEYS that another one sealed. What none opens stays as it is: doctor counts it. */
export async function resealTokens(deps: Sealing & Pick<Deps, 'db'>): Promise<void> {
  await eachWithTokens(deps, async (link) => {
    if (areLost(deps, link)) return;
    const sealed = deps.secrets.reseal(link.sealed_tokens, tokensLabelOf(link));
    if (sealed) await links.reseal(deps.db, link, sealed);
  });
}

/** Of how many connections SECRET_KEYS does not open the tokens. */
export async function countLostTokens(deps: Sealing & Pick<Deps, 'db'>): Promise<number> {
  let lost = 0;
  await eachWithTokens(deps, (link) => void (lost += areLost(deps, link) ? 1 : 0));
  return lost;
}
