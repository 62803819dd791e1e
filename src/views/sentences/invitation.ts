/** The page behind an invitation. */
import { catalogue } from '../../languages/catalogue.ts';

export const invitationSentences = catalogue(
  {
    title: 'Accept your invitation',
    lead: 'An account was made for {email}. Choose a password or create a passkey, and it is yours.',
    instead: 'Or without a password',
    instead_lead:
      'Your fingerprint, your face, or the PIN of your device signs you in. You can set a password in your account later.',
    submit: 'Accept',
  },
  {
    de: {
      title: 'Einladung annehmen',
      lead: 'Für {email} wurde ein Konto angelegt. Wählen Sie ein Passwort oder erstellen Sie einen Passkey, dann gehört es Ihnen.',
      instead: 'Oder ohne Passwort',
      instead_lead:
        'Sie melden sich mit Fingerabdruck, Gesicht oder der PIN Ihres Geräts an. Ein Passwort können Sie später in Ihrem Konto festlegen.',
      submit: 'Annehmen',
    },
    fr: {
      title: 'Accepter l’invitation',
      lead: 'Un compte a été créé pour {email}. Choisissez un mot de passe ou créez une clé d’accès, et il est à vous.',
      instead: 'Ou sans mot de passe',
      instead_lead:
        'Votre empreinte, votre visage ou le code de votre appareil vous connecte. Vous pourrez définir un mot de passe plus tard dans votre compte.',
      submit: 'Accepter',
    },
    es: {
      title: 'Aceptar la invitación',
      lead: 'Se ha creado una cuenta para {email}. Elija una contraseña o cree una llave de acceso y será suya.',
      instead: 'O sin contraseña',
      instead_lead:
        'Iniciará sesión con su huella, su rostro o el PIN de su dispositivo. Más adelante puede establecer una contraseña en su cuenta.',
      submit: 'Aceptar',
    },
    pt: {
      title: 'Aceitar o convite',
      lead: 'Foi criada uma conta para {email}. Escolha uma palavra-passe ou crie uma chave de acesso para a usar.',
      instead: 'Ou sem palavra-passe',
      instead_lead:
        'A impressão digital, o rosto ou o PIN do dispositivo inicia a sessão. Pode definir uma palavra-passe mais tarde na sua conta.',
      submit: 'Aceitar',
    },
    pl: {
      title: 'Przyjmij zaproszenie',
      lead: 'Założono konto dla {email}. Wybierz hasło lub utwórz klucz dostępu, aby z niego korzystać.',
      instead: 'Albo bez hasła',
      instead_lead:
        'Logowanie odciskiem palca, twarzą lub kodem PIN urządzenia. Hasło można ustawić później na swoim koncie.',
      submit: 'Przyjmij',
    },
    ja: {
      title: '招待を受ける',
      lead: '{email} のアカウントが用意されています。パスワードを決めるか、パスキーを作成すると、ご利用いただけます。',
      instead: 'パスワードを使わない場合',
      instead_lead: '指紋、顔、または端末の PIN でサインインできます。パスワードは後からアカウントで設定できます。',
      submit: '受ける',
    },
    'zh-Hans': {
      title: '接受邀请',
      lead: '已为 {email} 创建账户。设置密码或创建通行密钥后即可使用。',
      instead: '或者不使用密码',
      instead_lead: '您可以用指纹、面容或设备的 PIN 登录。以后可以在您的账户中设置密码。',
      submit: '接受',
    },
    ar: {
      title: 'قبول الدعوة',
      lead: 'أُنشئ حساب للعنوان {email}. اختاروا كلمة مرور أو أنشئوا مفتاح مرور ليصبح حسابكم.',
      instead: 'أو بلا كلمة مرور',
      instead_lead: 'تسجّلون الدخول ببصمتكم أو وجهكم أو رمز جهازكم. يمكنكم تعيين كلمة مرور في حسابكم لاحقًا.',
      submit: 'قبول',
    },
  },
);
