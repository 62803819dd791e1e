/** Logout tokens (OpenID Connect Back-Channel Logout §2.4): told to a client, about one session. */
import type { Deps } from '../deps.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import { sectorOfGrant } from '../protocol/sector.ts';
import type { Client } from '../store/clients.ts';
import { NESTED, sealFor } from './encryption.ts';
import { sidFor, subjectFor } from './subject.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Seconds: §2.4 asks for two minutes at most. */
const LIFE = 120;

/** A new token for each try: a fresh `jti`, so that a client that saw one before does not take it for a replay. */
export async function issueLogoutToken(
  { config, keys, clientKeys, random }: Pick<Deps, 'config' | 'keys' | 'clientKeys' | 'random'>,
  client: Client,
  notice: { sub: string; sid: string; sector: string | null },
  now: Date,
): Promise<string> {
  const alg = client.id_token_signed_response_alg;
  const iat = numericDate(now);
  const sector = sectorOfGrant(notice, client);
  // There is no nonce: it would make this an ID token to a careless reader.
  const claims = {
    iss: config.ISSUER,
    sub: subjectFor({ keys }, sector, notice.sub),
    aud: client.client_id,
    iat,
    exp: iat + LIFE,
    jti: random(16).toString('base64url'),
    events: { [EVENT]: {} },
    sid: sidFor({ keys }, sector, notice.sid),
  };
  const seal = await sealFor({ clientKeys }, client, 'id_token');
  const signed = await keys.sign(claims, { typ: 'logout+jwt', alg }, now);
  // §2.4, §2.6: encrypted as its ID tokens are, `iss` in the header to say whose it is.
  return seal ? seal(signed, { ...NESTED, iss: config.ISSUER }) : signed;
}
