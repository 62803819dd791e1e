/** What mails say in English, from which the others are translated. `{product}` and the like are filled in. */
import type { TemplateName } from '../templates.ts';
import type { NoticeName } from '../notices.ts';

/** What is special about one kind of mail. */
export interface MailText {
  subject: string;
  text: string;
  button: string;
}

export const en = {
  hello: 'Hello {name},',
  button_hint: 'If the button does not work, copy this address into your browser:',
  code_label: 'Or type this code on the page that asks for it:',
  lifetime: 'The link works once, and for {time}.',
  ignore: 'If that was not you, there is nothing to do: without the link nothing happens.',
  look: 'If that was not you, set a new password at once and look at what your account has: {url}',
  when: 'When: {time}',
  why_account: 'You get this mail because this address belongs to an account at {product}.',
  why_asked: 'You get this mail because somebody typed this address at {product}.',
  why_invited: 'You get this mail because you were invited to {product}.',
  mails: {
    'reset-password': {
      subject: 'Set a new password for {product}',
      text: 'Somebody, we hope it was you, asked for a new password for the account {username}.',
      button: 'Set a new password',
    },
    'verify-email': {
      subject: 'Confirm your address for {product}',
      text: 'This address was given for a new account at {product}.',
      button: 'Confirm the address',
    },
    'already-registered': {
      subject: 'You have an account at {product} already',
      text: 'Somebody, we hope it was you, wanted to make an account with this address. It has one already: {username}. Nothing was changed.',
      button: 'Sign in',
    },
    invitation: {
      subject: 'You are invited to {product}',
      text: 'An account was made for you, {username}. Choose a password, and it is yours.',
      button: 'Accept the invitation',
    },
    'sign-in': {
      subject: 'Sign in to {product}',
      text: 'Somebody, we hope it was you, wants to sign in as {username}.',
      button: 'Sign in',
    },
    'confirm-email': {
      subject: 'Confirm your new address for {product}',
      text: 'This is to become the address of the account {username}.',
      button: 'Confirm the address',
    },
    'address-in-use': {
      subject: 'Your address was typed for another account at {product}',
      text: 'Somebody wanted to give this address to another account. It belongs to yours, and nothing was changed.',
      button: 'Sign in',
    },
    'email-changed': {
      subject: 'Your address at {product} was changed',
      text: 'The account {username} has another address now: {name}. If that was you, there is nothing to do. If not, the link below gives the account this address back and signs it out everywhere.',
      button: 'Take the change back',
    },
    notice: {
      subject: '{notice}',
      text: 'This concerns the account {username} at {product}.',
      button: 'Look at the account',
    },
  } satisfies Record<TemplateName, MailText>,
  notices: {
    password_changed: 'Your password was changed',
    password_removed: 'Your password was removed',
    passkey_added: 'A passkey was added: {name}',
    passkey_removed: 'A passkey was removed: {name}',
    passkey_suspected: 'A passkey was refused, because it may have been copied: {name}',
    authenticator_added: 'An authenticator app was set up',
    authenticator_removed: 'The authenticator app was removed',
    recovery_codes_made: 'New recovery codes were made, and the old ones no longer work',
    recovery_codes_removed: 'The recovery codes were taken away and no longer work',
    recovery_code_used: 'A recovery code was used',
    factors_reset: 'Your second factors were reset',
    upstream_linked: 'You can now sign in with {name}',
    upstream_unlinked: 'You can no longer sign in with {name}',
    email_changed: 'This is now the address of your account',
    email_restored: 'Your account has its former address back',
    account_deletion_asked: 'Your account will be deleted on {name}',
    account_deletion_cancelled: 'Your account will not be deleted',
    account_deleted: 'Your account was deleted',
    account_suspected: 'Somebody typed many wrong passwords for your account, and is slowed down',
    password_suspected: 'Somebody knows your password and typed wrong codes again and again',
  } satisfies Record<NoticeName, string>,
};
