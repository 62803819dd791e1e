/** The page behind an invitation. */
import { catalogue } from '../../languages/catalogue.ts';

export const invitationSentences = catalogue(
  {
    title: 'Accept your invitation',
    lead: 'An account was made for {email}. Choose a password, and it is yours.',
    submit: 'Accept',
  },
  {
    de: {
      title: 'Einladung annehmen',
      lead: 'Für {email} wurde ein Konto angelegt. Wählen Sie ein Passwort, dann gehört es Ihnen.',
      submit: 'Annehmen',
    },
    fr: {
      title: 'Accepter l’invitation',
      lead: 'Un compte a été créé pour {email}. Choisissez un mot de passe, et il est à vous.',
      submit: 'Accepter',
    },
    es: {
      title: 'Aceptar la invitación',
      lead: 'Se ha creado una cuenta para {email}. Elija una contraseña y será suya.',
      submit: 'Aceptar',
    },
    pt: {
      title: 'Aceitar o convite',
      lead: 'Foi criada uma conta para {email}. Escolha uma palavra-passe para a usar.',
      submit: 'Aceitar',
    },
    pl: {
      title: 'Przyjmij zaproszenie',
      lead: 'Założono konto dla {email}. Wybierz hasło, aby z niego korzystać.',
      submit: 'Przyjmij',
    },
    ja: {
      title: '招待を受ける',
      lead: '{email} のアカウントが用意されています。パスワードを決めると、ご利用いただけます。',
      submit: '受ける',
    },
    'zh-Hans': {
      title: '接受邀请',
      lead: '已为 {email} 创建账户。设置密码后即可使用。',
      submit: '接受',
    },
    ar: {
      title: 'قبول الدعوة',
      lead: 'أُنشئ حساب للعنوان {email}. اختاروا كلمة مرور ليصبح حسابكم.',
      submit: 'قبول',
    },
  },
);
