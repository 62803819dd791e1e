/** The pages of the second factor: asked for, set up, and the recovery codes. */
import { qrOf } from '../../../src/http/browser/qr.ts';
import { secondFactorPage } from '../../../src/views/second-factor.ts';
import type { Frame } from '../../../src/views/layout.ts';
import { accountFrame } from './account.ts';
import { hostile } from './frame.ts';
import { authenticatorPage } from '../../../src/views/account/authenticator.ts';
import { recoveryCodesPage } from '../../../src/views/account/recovery-codes.ts';

const ada = { name: 'Ada Lovelace', email: 'ada@example.test' };
const commonOf = (frame: Frame) => ({
  frame,
  action: '/interaction/i1/second-factor',
  form_token: 'form-token',
  person: ada,
  switch_url: '/interaction/i1/login?switch',
  client: { client_id: 'demo-web', client_name: 'Notes', client_host: 'notes.example.test' },
  cancel: true,
  later: false,
});
const worstOf = (frame: Frame) => ({
  ...commonOf(frame),
  action: 'javascript:alert(1)',
  form_token: hostile,
  person: { name: hostile, email: hostile },
  switch_url: 'javascript:alert(2)',
  client: { client_id: hostile, client_name: hostile },
  problem: 'wrong_code' as const,
  request_id: hostile,
  later: true,
});
const setup = {
  qr: qrOf('otpauth://totp/id.example.test:ada?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=id.example.test'),
  secret: 'JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP',
  sealed: 'sealed',
};
const passkey = JSON.stringify({ challenge: 'AAAA', rpId: 'id.example.test', allowCredentials: [] });
const codes = Array.from({ length: 10 }, (_, n) => `ABCDEF-GHJKLM-NPQRST-UVWX2${n % 8}`.slice(0, 27));

export function secondFactorSamples(frame: Frame) {
  const own = {
    frame: accountFrame(frame, 'authenticator'),
    action: '/account/authenticator',
    form_token: 'form-token',
  };
  const kept = {
    frame: accountFrame(frame, 'recovery_codes'),
    action: '/account/recovery-codes',
    form_token: 'form-token',
  };
  const [common, worst] = [commonOf(frame), worstOf(frame)];
  return {
    'second-factor': secondFactorPage({
      ...common,
      shows: 'code',
      recovery_url: '/interaction/i1/second-factor?recovery',
    }),
    'second-factor-problem': secondFactorPage({
      ...common,
      shows: 'code',
      recovery_url: '?recovery',
      problem: 'wrong_code',
      request_id: 'f0e1',
    }),
    'second-factor-recovery': secondFactorPage({
      ...common,
      shows: 'recovery',
      code_url: '/interaction/i1/second-factor',
      problem: 'wrong_recovery_code',
    }),
    'second-factor-passkey': secondFactorPage({ ...common, shows: 'passkey', passkey, recovery_url: '?recovery' }),
    'second-factor-passkey-problem': secondFactorPage({
      ...common,
      shows: 'code',
      passkey,
      recovery_url: '?recovery',
      problem: 'wrong_passkey',
    }),
    'second-factor-recovery-only': secondFactorPage({ ...common, shows: 'recovery', code_url: undefined }),
    'second-factor-setup': secondFactorPage({ ...common, shows: 'setup', setup, create: passkey, later: true }),
    'second-factor-confirm': secondFactorPage({ ...common, shows: 'confirm', client: null, cancel: false }),
    'second-factor-codes': secondFactorPage({
      ...common,
      shows: 'codes',
      codes: { codes, action: '/interaction/i1/second-factor', form_token: 'form-token' },
      onward: '/interaction/i1',
    }),
    'second-factor-hostile': secondFactorPage({
      ...worst,
      shows: 'setup',
      setup: { qr: { size: 1, path: 'M0 0h1v1z' }, secret: hostile, sealed: hostile },
    }),
    'second-factor-recovery-hostile': secondFactorPage({
      ...worst,
      shows: 'recovery',
      code_url: 'javascript:alert(3)',
    }),
    'second-factor-codes-hostile': secondFactorPage({
      ...worst,
      shows: 'codes',
      codes: { codes: [hostile], action: 'javascript:alert(4)', form_token: hostile },
      onward: 'javascript:alert(5)',
    }),
    'account-authenticator': authenticatorPage({ ...own, shows: 'none', setup }),
    'account-authenticator-problem': authenticatorPage({ ...own, shows: 'none', setup, problem: 'wrong_code' }),
    'account-authenticator-off': authenticatorPage({ ...own, shows: 'off' }),
    'account-authenticator-present': authenticatorPage({
      ...own,
      shows: 'present',
      created_at: '2025-11-20T19:23:00Z',
      used_at: null,
      lost: false,
      done: 'added',
    }),
    'account-authenticator-lost': authenticatorPage({
      ...own,
      shows: 'present',
      created_at: hostile,
      used_at: '2025-11-20T19:23:00Z',
      lost: true,
    }),
    'account-authenticator-codes': authenticatorPage({
      ...own,
      shows: 'codes',
      codes: { codes, action: '/account/authenticator', form_token: 'form-token' },
      onward: '/account/authenticator',
    }),
    'account-recovery-codes': recoveryCodesPage({ ...kept, codes: { left: 7, created_at: '2025-11-20T19:23:00Z' } }),
    'account-recovery-codes-none': recoveryCodesPage({ ...kept, codes: null }),
    'account-recovery-codes-made': recoveryCodesPage({ ...kept, codes: null, made: codes }),
  };
}
