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
import { hostile } from './frame.ts';

const form = { action: '/forgot-password', form_token: 'form-token' };
const forgot = { ...form, username: '', interaction: '', back_url: '/login' };
const reset = { ...form, username: 'Ada', interaction: '', min_length: 8 };

export const recoverySamples = (frame: Frame): Record<string, Html> => ({
  'forgot-password': forgotPasswordPage({ frame, ...forgot }),
  'forgot-password-problem': forgotPasswordPage({ frame, ...forgot, problem: 'too_many', request_id: 'r-1' }),
  'forgot-password-hostile': forgotPasswordPage({ frame, ...forgot, username: hostile, interaction: hostile }),
  'forgot-password-sent': forgotSentPage({ frame, back_url: '/login', mail_url: '/dev/mail' }),
  'reset-password': resetPasswordPage({ frame, ...reset }),
  'reset-password-problem': resetPasswordPage({ frame, ...reset, problem: 'short', request_id: 'r-1' }),
  'reset-password-hostile': resetPasswordPage({ frame, ...reset, username: hostile, problem: 'guessable' }),
  'reset-password-done': resetDonePage({ frame, sign_in_url: '/login' }),
  'link-over': linkOverPage({ frame, again_url: '/forgot-password' }),
});
