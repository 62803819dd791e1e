/** The passkeys of an account. */
import { passkeyOfferPage } from '../../../src/views/passkey-offer.ts';
import { passkeysPage } from '../../../src/views/account/passkeys.ts';
import type { Frame } from '../../../src/views/layout.ts';
import type { Html } from '../../../src/views/html.ts';
import { accountFrame } from './account.ts';
import { hostile } from './frame.ts';

const options = JSON.stringify({
  challenge: 'AAAA',
  rp: { id: 'id.example.test', name: 'id.example.test' },
  user: { id: 'AAAA', name: 'ada', displayName: 'Ada' },
  pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
  excludeCredentials: [],
});
const pageIn = (frame: Frame) => ({
  frame: accountFrame(frame, 'passkeys'),
  action: '/account/passkeys',
  form_token: 'form-token',
  options,
  known: JSON.stringify({ rpId: 'id.example.test', userId: 'AAAA', ids: [], name: 'ada', displayName: 'Ada' }),
});
const passkey = {
  passkey_id: 'k1',
  name: 'Ada’s phone',
  backup_eligible: true,
  created_at: '2025-11-20T19:23:00Z',
  last_used_at: '2025-12-01T08:00:00Z',
};

export function passkeySamples(frame: Frame): Record<string, Html> {
  const page = pageIn(frame);
  return {
    'passkey-offer': passkeyOfferPage({
      ...page,
      frame,
      client: { client_id: 'demo-web', client_name: 'Notes' },
      person: { name: 'Ada Lovelace' },
    }),
    'passkey-offer-hostile': passkeyOfferPage({
      ...page,
      frame,
      client: { client_id: hostile, client_name: hostile },
      person: { name: hostile },
      options: hostile,
    }),
    'account-passkeys': passkeysPage({
      ...page,
      passkeys: [
        passkey,
        { ...passkey, passkey_id: 'k2', name: 'YubiKey 5', backup_eligible: false, last_used_at: null },
      ],
      done: 'renamed',
    }),
    'account-passkeys-none': passkeysPage({
      ...page,
      passkeys: [],
      problem: { of: 'not_created', field: 'passkey-create' },
    }),
    'account-passkeys-problem': passkeysPage({
      ...page,
      passkeys: [passkey],
      problem: { of: 'no_name', field: 'passkey-name-k1' },
    }),
    'account-passkeys-hostile': passkeysPage({
      ...page,
      action: 'javascript:alert(20)',
      options: hostile,
      known: '',
      passkeys: [{ ...passkey, name: hostile, created_at: hostile, last_used_at: hostile }],
      done: hostile,
    }),
  };
}
