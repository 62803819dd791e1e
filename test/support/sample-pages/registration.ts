/** The pages on the way to an account, and those that wait for a mail. */
import type { Html } from '../../../src/views/html.ts';
import type { Frame } from '../../../src/views/layout.ts';
import { confirmAddressPage, mailCodePage, mailNotePage } from '../../../src/views/mail-code.ts';
import { invitationPage } from '../../../src/views/invitation.ts';
import { emailSignInPage, signInLinkPage } from '../../../src/views/email-sign-in.ts';
import { codesPage } from '../../../src/views/recovery-codes.ts';
import { signUpPage } from '../../../src/views/sign-up.ts';
import { hostile, refused } from './frame.ts';

const form = { action: '/signup', form_token: 'form-token' };
const signUp = {
  ...form,
  email: '',
  name: '',
  min_length: 8,
  strength_url: '/password-strength',
  login_url: '/login',
  cancel: false,
};
const typed = { email: 'ada@example.test', name: 'Ada Lovelace' };
const waiting = { ...form, request: 'a-request', email: 'ada@example.test', other_url: '/signup' };
const confirm = {
  ...form,
  email: 'ada@example.test',
  elsewhere: false,
  min_length: 8,
  strength_url: '/password-strength',
  link: 'l',
};

export const registrationSamples = (frame: Frame): Record<string, Html> => ({
  signup: signUpPage({ frame, ...signUp }),
  'signup-problem': signUpPage({
    frame,
    ...signUp,
    ...typed,
    problem: refused('guessable'),
    request_id: 'r-1',
    cancel: true,
  }),
  'signup-bad-email': signUpPage({ frame, ...signUp, email: 'ada', problem: 'bad_email', request_id: 'r-1' }),
  'signup-hostile': signUpPage({ frame, ...signUp, email: hostile, name: hostile, problem: 'bad_name' }),
  'mail-code': mailCodePage({ frame, ...waiting }),
  'mail-code-sign-in': mailCodePage({ frame, ...waiting, purpose: 'sign_in', mail_url: '/dev/mail' }),
  'mail-code-problem': mailCodePage({ frame, ...waiting, problem: 'wrong', request_id: 'r-1' }),
  'mail-code-hostile': mailCodePage({ frame, ...waiting, email: hostile, problem: 'over' }),
  'confirm-address': confirmAddressPage({ frame, ...confirm }),
  'confirm-address-taken': confirmAddressPage({ frame, ...confirm, problem: 'taken', request_id: 'r-1' }),
  'confirm-address-elsewhere': confirmAddressPage({ frame, ...confirm, elsewhere: true, problem: refused('short') }),
  'confirm-address-anew': confirmAddressPage({ frame, ...confirm, elsewhere: true, anew: true }),
  'confirm-address-hostile': confirmAddressPage({ frame, ...confirm, email: hostile, elsewhere: true }),
  invitation: invitationPage({ frame, ...confirm, options: '{}' }),
  'invitation-problem': invitationPage({
    frame,
    ...confirm,
    options: '{}',
    problem: refused('common'),
    request_id: 'r-1',
  }),
  'invitation-not-created': invitationPage({ frame, ...confirm, options: '{}', problem: 'not_created' }),
  'invitation-codes': codesPage({ frame, codes: { ...form, codes: ['ABCD-EFGH'] }, onward: '/account' }),
  'invitation-hostile': invitationPage({ frame, ...confirm, options: hostile, email: hostile }),
  'email-sign-in': emailSignInPage({ frame, ...form, email: '', login_url: '/login' }),
  'email-sign-in-problem': emailSignInPage({
    frame,
    ...form,
    email: hostile,
    login_url: '/login',
    problem: 'bad_email',
  }),
  'sign-in-link': signInLinkPage({ frame, ...form, here: true }),
  'sign-in-link-elsewhere': signInLinkPage({ frame, ...form, here: false }),
  'mail-confirmed': mailNotePage({ frame, note: 'confirmed', next_url: '/login' }),
  'mail-stale': mailNotePage({ frame, note: 'stale', next_url: '/signup' }),
});
