/** The part of the account API's table that is about the ways into an account: passkeys, second factors and the password. */
import { z } from 'zod';
import { Problem } from '../../admin/index.ts';
import { addOwnTotp, removeOwnFactor, renewOwnCodes } from '../../authorize/own-factors.ts';
import { removeOwnPasskey } from '../../authorize/own-passkeys.ts';
import { changeOwnPassword } from '../../authorize/own-password.ts';
import type { Deps } from '../../deps.ts';
import * as passkeys from '../../store/passkeys.ts';
import { beginSetup, checkSetup, readSetup } from '../../users/enrolment.ts';
import { factors } from '../../users/factors/index.ts';
import { areAsked } from '../../users/factors/policy.ts';
import { setupOf } from '../../users/factors/totp.ts';
import { MAX_NAME, nameOwnPasskey } from '../../users/passkeys.ts';
import { gone, listOf, moment, operation, type Operation } from './operation.ts';
import { notFresh, type Owner } from './owner.ts';

const passkey = z.strictObject({
  passkey_id: z.string(),
  name: z.string(),
  created_at: moment,
  last_used_at: moment.nullable(),
  backed_up: z.boolean(),
});

const factor = z.strictObject({
  factor: z.string(),
  created_at: moment,
  used_at: moment.nullable(),
  left: z.int().optional().describe('How many are left, of what is used up'),
  name: z.string().optional(),
  lost: z.boolean().optional().describe('It cannot be used any more, through no fault of its person'),
});

const newPassword = z.strictObject({
  password: z.string().max(1024),
  current_password: z.string().max(1024).optional().describe('Not needed after a fresh sign-in by passkey'),
  end_other_sessions: z.boolean().default(true),
});

const hasAuthenticator = (): Problem =>
  new Problem('conflict', 'there is an authenticator app already: remove it first');

/** @throws Problem where nobody sets one up, or this person has one */
function refuseAuthenticator({ config }: Pick<Deps, 'config'>, { second_factors }: Owner): void {
  if (!areAsked(config)) throw new Problem('not-allowed', 'nobody is asked for a second factor here');
  if (second_factors.includes('totp')) throw hasAuthenticator();
}

const notSetUp = (pointer: string, code: string): Problem =>
  new Problem('invalid', 'the authenticator app was not set up', { errors: [{ pointer, detail: code, code }] });

/** Whatever changes is for programs of the service itself alone. */
export const waysIn: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/passkeys',
    name: 'passkeys_list',
    summary: 'List passkeys',
    answer: listOf(passkey),
    async run({ deps, owner }) {
      const all = await passkeys.allOf(deps.db, owner.sub);
      return {
        items: all.map(({ passkey_id, name, created_at, last_used_at, backed_up }) => ({
          passkey_id,
          name,
          created_at,
          last_used_at,
          backed_up,
        })),
      };
    },
  }),
  operation({
    method: 'PATCH',
    path: '/passkeys/{passkey_id}',
    name: 'passkeys_rename',
    summary: 'Rename a passkey',
    trusted: true,
    fresh: true,
    body: z.strictObject({ name: z.string().min(1).max(MAX_NAME) }),
    answer: null,
    async run({ deps, owner, ids, body, by, now }) {
      const renamed = await nameOwnPasskey(deps, owner.sub, ids.passkey_id, body.name, by, now);
      if (renamed === 'gone') throw gone('passkey');
      if (renamed === 'renamed') return;
      const errors = [{ pointer: '/name', detail: 'must have something that can be seen', code: 'no_name' }];
      throw new Problem('invalid', 'the passkey was not renamed', { errors });
    },
  }),
  operation({
    method: 'DELETE',
    path: '/passkeys/{passkey_id}',
    name: 'passkeys_remove',
    summary: 'Remove a passkey, and end all other sessions',
    trusted: true,
    fresh: true,
    answer: null,
    async run({ deps, owner, ids, by, now }) {
      const removal = await removeOwnPasskey(deps, owner, ids.passkey_id, by, now);
      if (removal === 'only_way') throw new Problem('not-allowed', 'it is the last way into the account');
      if (removal === 'gone') throw gone('passkey');
    },
  }),
  operation({
    method: 'GET',
    path: '/factors',
    name: 'factors_list',
    summary: 'List by what the person can prove who they are',
    answer: listOf(factor),
    async run({ deps, owner }) {
      const lists = await Promise.all(Object.values(factors).map((each) => each.list(deps, owner.sub)));
      return { items: lists.flat() };
    },
  }),
  operation({
    method: 'POST',
    path: '/authenticator',
    name: 'authenticator_begin',
    summary: 'Draw the secret of an authenticator app, to be set up within ten minutes',
    trusted: true,
    fresh: true,
    answer: z.strictObject({
      secret: z.string().describe('Base32, to be typed'),
      otpauth_uri: z.string().describe('The same for a QR code'),
      setup: z.string().describe('The same, sealed for this sign-in: PUT /authenticator wants it back'),
    }),
    async run({ deps, owner, now }) {
      refuseAuthenticator(deps, owner);
      const { secret, sealed } = beginSetup(deps, owner, now);
      const shown = setupOf(secret, { issuer: new URL(deps.config.ISSUER).host, label: owner.user.username });
      return { secret: shown.secret, otpauth_uri: shown.uri, setup: sealed };
    },
  }),
  operation({
    method: 'PUT',
    path: '/authenticator',
    name: 'authenticator_add',
    summary: 'Set the authenticator app up by a code of it; tokens of a password alone end, this one too',
    trusted: true,
    fresh: true,
    body: z.strictObject({ setup: z.string().max(1024), otp: z.string().max(64) }),
    answer: z.strictObject({
      recovery_codes: z.array(z.string()).nullable().describe('Shown this once; null for who had some already'),
    }),
    async run({ deps, owner, body, by, now }) {
      refuseAuthenticator(deps, owner);
      const secret = readSetup(deps, owner, body.setup, now);
      if (!secret) throw notSetUp('/setup', 'too_late');
      const totp = checkSetup(deps, owner, secret, body.otp, now);
      if (!totp) throw notSetUp('/otp', 'wrong');
      const added = await addOwnTotp(deps, owner, totp, by, now);
      if (!added) throw hasAuthenticator();
      return { recovery_codes: added.codes ?? null };
    },
  }),
  operation({
    method: 'DELETE',
    path: '/authenticator',
    name: 'authenticator_remove',
    summary: 'Remove the authenticator app, and end all other sessions',
    trusted: true,
    fresh: true,
    answer: null,
    async run({ deps, owner, by, now }) {
      if (!(await removeOwnFactor(deps, owner, 'totp', by, now))) throw gone('authenticator app');
    },
  }),
  operation({
    method: 'POST',
    path: '/recovery-codes',
    name: 'recovery_codes_make',
    summary: 'Make ten recovery codes in place of those there were; they are shown this once',
    trusted: true,
    fresh: true,
    answer: z.strictObject({ recovery_codes: z.array(z.string()) }),
    async run({ deps, owner, by, now }) {
      const recovery_codes = await renewOwnCodes(deps, owner, by, now);
      if (!recovery_codes) throw new Problem('not-allowed', 'there is no second factor that they could stand in for');
      return { recovery_codes };
    },
  }),
  operation({
    method: 'PUT',
    path: '/password',
    name: 'password_set',
    summary: 'Change the password, or set a first one',
    trusted: true,
    body: newPassword,
    answer: null,
    async run({ deps, owner, body, by }) {
      const { password, current_password: current, end_other_sessions: end_others } = body;
      const change = { password, current, end_others, device: undefined };
      const outcome = await changeOwnPassword(deps, owner, owner.user, change, by);
      if (outcome === 'done') return;
      if (outcome === 'stale') throw notFresh(owner);
      if (outcome === 'meanwhile') throw new Problem('conflict', 'the password was changed by another request');
      const [pointer, code] =
        outcome === 'wrong_current' ? ['/current_password', 'wrong'] : ['/password', outcome.refusal!];
      throw new Problem('invalid', 'the password was not changed', { errors: [{ pointer, detail: code, code }] });
    },
  }),
];
