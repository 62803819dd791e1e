/** A passkey as a factor: alone (users/passkey-sign-in.ts), or after another. */
import { keyMethod } from '../../protocol/webauthn.ts';
import * as store from '../../store/passkeys.ts';
import { claimUse, verifyPasskey } from '../passkeys.ts';
import type { Factor } from './factor.ts';

export const passkey: Factor = {
  amr: [
    ['hwk', 'user'],
    ['swk', 'user'],
  ],
  first: true,
  second: true,
  enrols: false,
  field: 'passkey',
  async prove(deps, { sub, given, bound_to, by }, now) {
    const [page = '', browser = ''] = bound_to ?? [];
    const challenge = ['second-factor', browser, page] as const;
    // Who knew the password shows that they hold the key: a touch is enough.
    const use = { answer: given, challenge, user_verification: 'preferred', sub } as const;
    const verified = await verifyPasskey(deps, use, by, now);
    return { amr: [keyMethod(verified.passkey)], claim: (trx, _by, time) => claimUse(trx, verified, time) };
  },
  remove: async (trx, sub) => (await store.removeAllOf(trx, sub)) > 0,
  async list({ db }, sub) {
    const passkeys = await store.allOf(db, sub);
    return passkeys.map(({ name, created_at, last_used_at }) => ({
      factor: 'passkey',
      name,
      created_at,
      used_at: last_used_at,
    }));
  },
};
