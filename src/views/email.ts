/** Behind the links of a change of address: what it does, and that it was done. */
import { named, plain } from './client.ts';
import { hidden } from './form.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import { sendOnce } from './script.ts';
import { accountSentences } from './sentences/account.ts';
import { emailSentences } from './sentences/email.ts';
import { recoverySentences } from './sentences/recovery.ts';

export type EmailLinkPageProps = {
  frame: Frame;
  /** To the new address, or back to the old one. */
  kind: 'confirm' | 'undo';
  action: string;
  form_token: string;
  username: string;
  address: string;
};

/** A button, since programs that look through mail open links. */
export function emailLinkPage({ frame, kind, action, form_token, username, address }: EmailLinkPageProps): Html {
  const t = emailSentences(frame.lang);
  const who = { username: named(plain(username)), address: named(plain(address)) };
  const [title, lead, submit] =
    kind === 'confirm'
      ? [t.confirm_title, t.confirm_lead(who), t.confirm_submit]
      : [t.undo_title, t.undo_lead(who), t.undo_submit];
  return page(frame, {
    title,
    heading: title,
    lead,
    scripts: [sendOnce],
    body: html`<form method="post" action="${action}">
      ${hidden({ form_token })}
      <div class="actions"><button class="button strong" id="email-${kind}">${submit}</button></div>
    </form>`,
  });
}

export type EmailElsewherePageProps = { frame: Frame; username: string; login_url: string };

/** To whoever opens the link that confirms an address and is not signed in as the person who asked. */
export function emailElsewherePage({ frame, username, login_url }: EmailElsewherePageProps): Html {
  const t = emailSentences(frame.lang);
  return page(frame, {
    title: t.confirm_title,
    heading: t.confirm_title,
    lead: t.only_asker({ username: named(plain(username)) }),
    body: html`<p>${t.not_asked}</p>
      <div class="actions">
        <a class="button strong" id="email-next" href="${login_url}">${recoverySentences(frame.lang).sign_in}</a>
      </div>`,
  });
}

export type EmailDonePageProps = {
  frame: Frame;
  kind: 'confirm' | 'undo';
  /** Somebody who is signed in goes to their account. */
  next: 'login' | 'forgot_password' | 'account';
  next_url: string;
};

/** What was done, and where to go from there. */
export function emailDonePage({ frame, kind, next, next_url }: EmailDonePageProps): Html {
  const t = emailSentences(frame.lang);
  const recovery = recoverySentences(frame.lang);
  const onward = {
    login: recovery.sign_in,
    forgot_password: recovery.forgot_title,
    account: accountSentences(frame.lang).overview,
  };
  const title = kind === 'confirm' ? t.confirmed : t.undone;
  return page(frame, {
    title,
    heading: title,
    lead: kind === 'undo' ? t.undone_text : undefined,
    body: html`<div class="actions">
      <a class="button strong" id="email-next" href="${next_url}"> ${onward[next]} </a>
    </div>`,
  });
}
