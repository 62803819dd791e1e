/** What mails say in Chinese (simplified). */
import type { MailSentences } from '../sentences.ts';

export const zhHans: MailSentences = {
  hello: '{name}，您好：',
  button_hint: '如果按钮无法使用，请将以下地址复制到浏览器中：',
  code_label: '或者在要求输入验证码的页面输入：',
  lifetime: '此链接只能使用一次，有效期为 {time}。',
  ignore: '如果不是您本人操作，则无需理会：不使用此链接就不会有任何变化。',
  look: '如果不是您本人操作，请立即设置新密码并检查您的帐户：{url}',
  when: '时间：{time}',
  why_account: '您收到此邮件，是因为该地址属于 {product} 的一个帐户。',
  why_asked: '您收到此邮件，是因为有人在 {product} 输入了该地址。',
  why_invited: '您收到此邮件，是因为您受邀使用 {product}。',
  mails: {
    'reset-password': {
      subject: '设置 {product} 的新密码',
      text: '有人（希望是您本人）为帐户 {username} 申请了新密码。',
      button: '设置新密码',
    },
    'verify-email': {
      subject: '确认您在 {product} 的地址',
      text: '有人在 {product} 注册新帐户时填写了此地址。',
      button: '确认地址',
    },
    'already-registered': {
      subject: '您已有 {product} 帐户',
      text: '有人（希望是您本人）想用此地址注册帐户。该地址已属于帐户 {username}，没有任何更改。',
      button: '登录',
    },
    invitation: {
      subject: '邀请您使用 {product}',
      text: '已为您创建帐户 {username}。设置密码后即可使用。',
      button: '接受邀请',
    },
    'sign-in': {
      subject: '登录 {product}',
      text: '有人（希望是您本人）想以 {username} 的身份登录。',
      button: '登录',
    },
    'confirm-email': {
      subject: '确认您在 {product} 的新地址',
      text: '此地址将成为帐户 {username} 的地址。',
      button: '确认地址',
    },
    'address-in-use': {
      subject: '有人在 {product} 的另一个帐户中填写了您的地址',
      text: '有人想将此地址用于另一个帐户。它属于您的帐户，没有任何更改。',
      button: '登录',
    },
    'email-changed': {
      subject: '您在 {product} 的地址已更改',
      text: '帐户 {username} 的地址现在是 {name}。如果是您本人操作，则无需理会。如果不是，可通过下面的链接恢复此地址，并在所有设备上退出登录。',
      button: '撤销更改',
    },
    notice: {
      subject: '{notice}',
      text: '此邮件与 {product} 的帐户 {username} 有关。',
      button: '查看帐户',
    },
  },
  notices: {
    password_changed: '您的密码已更改',
    password_removed: '您的密码已移除',
    passkey_added: '已添加通行密钥：{name}',
    passkey_removed: '已移除通行密钥：{name}',
    passkey_suspected: '一个通行密钥被拒绝，因为它可能已被复制：{name}',
    authenticator_added: '已设置身份验证器应用',
    authenticator_removed: '已移除身份验证器应用',
    recovery_codes_made: '已生成新的恢复代码，旧代码不再有效',
    recovery_codes_removed: '恢复代码已被移除，不再有效',
    recovery_code_used: '有人使用了恢复代码',
    factors_reset: '您的第二重验证已重置',
    upstream_linked: '您现在可以使用 {name} 登录',
    upstream_unlinked: '您不能再使用 {name} 登录',
    email_changed: '这是您帐户现在的地址',
    email_restored: '您的帐户已恢复原来的地址',
    account_deletion_asked: '您的帐户将于 {name} 删除',
    account_deletion_cancelled: '您的帐户不会被删除',
    account_deleted: '您的帐户已删除',
    account_suspected: '有人多次为您的帐户输入错误密码，后续尝试已被减速',
    password_suspected: '有人知道您的密码，并多次输入了错误的验证码',
  },
};
