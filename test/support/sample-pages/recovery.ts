/** The pages on the way to a new password, and behind links that came by mail. */
import type { Html } from '../../../src/views/html.ts';
import type { Frame } from '../../../src/views/layout.ts';
import {
  forgotPasswordPage,
  forgotSentPage,
  linkOverPage,
  resetDonePage,
  resetPasswordPage,
} from '../../../src/views/recovery.ts';
import { emailPage } from '../../../src/views/account/email.ts';
import { emailDonePage, emailElsewherePage, emailLinkPage } from '../../../src/views/email.ts';
import { accountFrame } from './account.ts';
import { hostile, refused } from './frame.ts';

const form = { action: '/forgot-password', form_token: 'form-token' };
const forgot = { ...form, username: '', interaction: '', back_url: '/login' };
const reset = {
  ...form,
  username: 'Ada',
  interaction: '',
  min_length: 8,
  strength_url: '/password-strength',
  link: 'l',
};

const email = { ...form, email: 'ada@example.test', email_verified: true, mail: true };
const link = { ...form, username: 'Ada', address: 'ada@example.test' };

export const recoverySamples = (frame: Frame): Record<string, Html> => ({
  'forgot-password': forgotPasswordPage({ frame, ...forgot }),
  'forgot-password-problem': forgotPasswordPage({ frame, ...forgot, problem: 'too_many', request_id: 'r-1' }),
  'forgot-password-hostile': forgotPasswordPage({ frame, ...forgot, username: hostile, interaction: hostile }),
  'forgot-password-sent': forgotSentPage({ frame, back_url: '/login', mail_url: '/dev/mail' }),
  'reset-password': resetPasswordPage({ frame, ...reset }),
  'reset-password-problem': resetPasswordPage({ frame, ...reset, problem: refused('short'), request_id: 'r-1' }),
  'reset-password-hostile': resetPasswordPage({ frame, ...reset, username: hostile, problem: refused('guessable') }),
  'reset-password-done': resetDonePage({ frame, sign_in_url: '/login' }),
  'account-email': emailPage({ frame: accountFrame(frame, 'email'), ...email, done: 'confirmed', typed: '' }),
  'account-email-code': emailPage({
    frame: accountFrame(frame, 'email'),
    ...email,
    request: 'a-request',
    done: 'sent',
    typed: '',
    mail_url: '/dev/mail',
  }),
  'account-email-code-problem': emailPage({
    frame: accountFrame(frame, 'email'),
    ...email,
    request: 'a-request',
    typed: '',
    problem: 'wrong',
  }),
  'account-email-problem': emailPage({
    frame: accountFrame(frame, 'email'),
    ...email,
    typed: 'x',
    problem: 'no_address',
  }),
  'account-email-hostile': emailPage({ frame: accountFrame(frame, 'email'), ...email, email: hostile, typed: hostile }),
  'account-email-off': emailPage({
    frame: accountFrame(frame, 'email'),
    ...email,
    email: null,
    mail: false,
    typed: '',
  }),
  'email-confirm': emailLinkPage({ frame, ...link, kind: 'confirm' }),
  'email-confirm-elsewhere': emailElsewherePage({ frame, username: link.username, login_url: '/login' }),
  'email-undo': emailLinkPage({ frame, ...link, kind: 'undo' }),
  'email-undo-hostile': emailLinkPage({ frame, ...link, kind: 'undo', username: hostile, address: hostile }),
  'email-confirmed': emailDonePage({ frame, kind: 'confirm', next: 'login', next_url: '/login' }),
  'email-confirmed-here': emailDonePage({ frame, kind: 'confirm', next: 'account', next_url: '/account' }),
  'email-undone': emailDonePage({ frame, kind: 'undo', next: 'forgot_password', next_url: '/forgot-password' }),
  'link-over': linkOverPage({ frame, again_url: '/forgot-password' }),
});
