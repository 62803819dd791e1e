/** What mails say in Japanese. */
import type { MailSentences } from '../sentences.ts';

export const ja: MailSentences = {
  hello: '{name} 様',
  button_hint: 'ボタンが使えない場合は、次のアドレスをブラウザーに貼り付けてください:',
  code_label: 'または、入力を求めているページに次のコードを入力してください:',
  lifetime: 'このリンクは一度だけ、{time}有効です。',
  ignore: 'お心当たりがない場合は、何もする必要はありません。リンクを開かない限り何も起こりません。',
  look: 'お心当たりがない場合は、すぐに新しいパスワードを設定し、アカウントの内容をご確認ください: {url}',
  when: '日時: {time}',
  why_account: 'このメールは、{product} のアカウントにこのアドレスが登録されているためお送りしています。',
  why_asked: 'このメールは、{product} でこのアドレスが入力されたためお送りしています。',
  why_invited: 'このメールは、{product} に招待されたためお送りしています。',
  mails: {
    'reset-password': {
      subject: '{product} の新しいパスワードの設定',
      text: 'アカウント {username} の新しいパスワードが申請されました。',
      button: '新しいパスワードを設定',
    },
    'verify-email': {
      subject: '{product} のメールアドレスの確認',
      text: '{product} の新しいアカウントにこのアドレスが入力されました。',
      button: 'アドレスを確認',
    },
    'already-registered': {
      subject: '{product} のアカウントをすでにお持ちです',
      text: 'このアドレスで新しいアカウントを作成しようとする操作がありましたが、すでにアカウント {username} に登録されています。変更はありません。',
      button: 'サインイン',
    },
    invitation: {
      subject: '{product} へのご招待',
      text: 'アカウント {username} が用意されました。パスワードを決めるとご利用いただけます。',
      button: '招待を受ける',
    },
    'sign-in': {
      subject: '{product} へのサインイン',
      text: '{username} としてのサインインが申請されました。',
      button: 'サインイン',
    },
    'confirm-email': {
      subject: '{product} の新しいメールアドレスの確認',
      text: 'このアドレスをアカウント {username} に登録しようとしています。',
      button: 'アドレスを確認',
    },
    'address-in-use': {
      subject: '{product} の別のアカウントにあなたのアドレスが入力されました',
      text: 'このアドレスを別のアカウントに登録しようとする操作がありました。アドレスはあなたのアカウントのままで、変更はありません。',
      button: 'サインイン',
    },
    'email-changed': {
      subject: '{product} のメールアドレスが変更されました',
      text: 'アカウント {username} のアドレスが {name} に変更されました。ご自身による変更であれば、何もする必要はありません。お心当たりがない場合は、下のリンクからこのアドレスに戻し、すべての場所からサインアウトできます。',
      button: '変更を取り消す',
    },
    notice: {
      subject: '{notice}',
      text: '{product} のアカウント {username} についてのお知らせです。',
      button: 'アカウントを見る',
    },
  },
  notices: {
    password_changed: 'パスワードが変更されました',
    password_removed: 'パスワードが削除されました',
    passkey_added: 'パスキーが追加されました: {name}',
    passkey_removed: 'パスキーが削除されました: {name}',
    passkey_suspected: '複製された可能性があるため、パスキーを拒否しました: {name}',
    authenticator_added: '認証アプリが設定されました',
    authenticator_removed: '認証アプリが削除されました',
    recovery_codes_made: '新しい回復コードが作成され、以前のコードは使えなくなりました',
    recovery_codes_removed: '回復コードは削除され、使えなくなりました',
    recovery_code_used: '回復コードが使用されました',
    factors_reset: '2 つ目の認証要素がリセットされました',
    upstream_linked: '{name} でサインインできるようになりました',
    upstream_unlinked: '{name} でサインインできなくなりました',
    email_changed: 'このアドレスがアカウントに登録されました',
    email_restored: 'アカウントのアドレスが以前のものに戻りました',
    account_deletion_asked: 'アカウントは {name} に削除されます',
    account_deletion_cancelled: 'アカウントの削除は取り消されました',
    account_deleted: 'アカウントが削除されました',
    account_suspected: 'お使いのアカウントに対して誤ったパスワードが何度も入力されたため、以降の試行を制限しています',
    password_suspected: 'パスワードを知っている何者かが、誤ったコードを繰り返し入力しました',
  },
};
