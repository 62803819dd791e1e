/** The secret by which this server proves itself at a provider: sealed, since it has to be shown there. */
import { importPKCS8, SignJWT } from 'jose';
import type { Deps } from '../../deps.ts';
import { secondsAfter } from '../../protocol/numeric-date.ts';
import { temporarilyUnavailable } from '../../protocol/error.ts';
import * as store from '../../store/upstreams.ts';

type Sealing = Pick<Deps, 'secrets'>;

/** Bound into the sealing: the secret of one provider is never shown to another. */
const labelOf = (upstream: string): string => `the client secret at the upstream ${upstream}`;

export const sealSecret = ({ secrets }: Sealing, upstream: string, secret: string): Buffer =>
  secrets.seal(Buffer.from(secret), labelOf(upstream));

/** Is there no secret, or one that SECRET_KEYS opens? */
export function isSecretReadable({ secrets }: Sealing, { upstream, sealed_secret }: store.Upstream): boolean {
  try {
    if (sealed_secret) secrets.open(sealed_secret, labelOf(upstream));
    return true;
  } catch {
    return false;
  }
}

/** Seals under the first of SECRET_KEYS what another one sealed. What none opens stays as it is: doctor names it. */
export async function resealSecrets(deps: Sealing & Pick<Deps, 'db'>): Promise<void> {
  for (const row of await store.all(deps.db)) {
    if (!row.sealed_secret || !isSecretReadable(deps, row)) continue;
    const sealed = deps.secrets.reseal(row.sealed_secret, labelOf(row.upstream));
    if (sealed) await store.reseal(deps.db, row, sealed);
  }
}

/** Seconds that a secret which is made at use is good for: for one request. */
const MADE_FOR = 300;

/**
 * The secret to show; undefined where there is none. Apple's is a JWT made at use, signed by what is kept.
 * @throws OAuthError temporarily_unavailable when its key is gone from SECRET_KEYS, or it cannot sign
 */
export async function secretFor({ secrets }: Sealing, row: store.Upstream, now: Date): Promise<string | undefined> {
  const { upstream, sealed_secret, secret_team_id, secret_key_id, client_id, issuer } = row;
  if (!sealed_secret) return undefined;
  try {
    const secret = secrets.open(sealed_secret, labelOf(upstream)).toString();
    if (secret_team_id === null || secret_key_id === null) return secret;
    const key = await importPKCS8(secret, 'ES256');
    return await new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: secret_key_id })
      .setIssuer(secret_team_id)
      .setSubject(client_id)
      .setAudience(issuer)
      .setIssuedAt(now)
      .setExpirationTime(secondsAfter(now, MADE_FOR))
      .sign(key);
  } catch (cause) {
    throw temporarilyUnavailable('signing in with this provider does not work at the moment', {
      cause,
      check: 'upstream',
      expected: `a client secret of ${upstream} that SECRET_KEYS opens`,
      received: 'one that does not open, or is no key: see postern doctor',
    });
  }
}
