/** Sign-in by a mail. */
import { catalogue } from '../../languages/catalogue.ts';

export const emailSignInSentences = catalogue(
  {
    title: 'Sign in by email',
    lead: 'We send a link and a code to the address of your account. You need no password.',
    submit: 'Send',
    go_on: 'Sign in',
    here: 'You asked for this in this browser.',
    elsewhere: 'Type the code instead',
    elsewhere_lead:
      'This link works in the browser where it was asked for, and there the code from the mail does too. If you did not ask for it, do nothing, and tell nobody the code.',
  },
  {
    de: {
      title: 'Per E-Mail anmelden',
      lead: 'Wir senden einen Link und einen Code an die Adresse Ihres Kontos. Ein Passwort brauchen Sie nicht.',
      submit: 'Senden',
      go_on: 'Anmelden',
      here: 'Sie haben das in diesem Browser angefordert.',
      elsewhere: 'Geben Sie stattdessen den Code ein',
      elsewhere_lead:
        'Dieser Link gilt in dem Browser, in dem er angefordert wurde; dort gilt auch der Code aus der E-Mail. Wenn Sie ihn nicht angefordert haben, tun Sie nichts, und sagen Sie niemandem den Code.',
    },
    fr: {
      title: 'Se connecter par e-mail',
      lead: 'Nous envoyons un lien et un code à l’adresse de votre compte. Aucun mot de passe n’est nécessaire.',
      submit: 'Envoyer',
      go_on: 'Se connecter',
      here: 'Vous l’avez demandé dans ce navigateur.',
      elsewhere: 'Saisissez plutôt le code',
      elsewhere_lead:
        'Ce lien fonctionne dans le navigateur où il a été demandé, tout comme le code de l’e-mail. Si vous ne l’avez pas demandé, ne faites rien et ne donnez le code à personne.',
    },
    es: {
      title: 'Iniciar sesión por correo',
      lead: 'Enviamos un enlace y un código a la dirección de su cuenta. No necesita contraseña.',
      submit: 'Enviar',
      go_on: 'Iniciar sesión',
      here: 'Usted lo pidió en este navegador.',
      elsewhere: 'Escriba el código en su lugar',
      elsewhere_lead:
        'Este enlace funciona en el navegador donde se pidió, igual que el código del correo. Si usted no lo pidió, no haga nada y no diga el código a nadie.',
    },
    pt: {
      title: 'Iniciar sessão por e-mail',
      lead: 'Enviamos uma ligação e um código para o endereço da conta. Não é precisa palavra-passe.',
      submit: 'Enviar',
      go_on: 'Iniciar sessão',
      here: 'Isto foi pedido neste navegador.',
      elsewhere: 'Introduza antes o código',
      elsewhere_lead:
        'Esta ligação funciona no navegador onde foi pedida, tal como o código do e-mail. Se não a pediu, não faça nada e não diga o código a ninguém.',
    },
    pl: {
      title: 'Logowanie przez e-mail',
      lead: 'Wyślemy link i kod na adres konta. Hasło nie jest potrzebne.',
      submit: 'Wyślij',
      go_on: 'Zaloguj się',
      here: 'Poproszono o to w tej przeglądarce.',
      elsewhere: 'Wpisz zamiast tego kod',
      elsewhere_lead:
        'Ten link działa w przeglądarce, w której o niego poproszono, podobnie jak kod z wiadomości. Jeśli to nie była Twoja prośba, nic nie rób i nikomu nie podawaj kodu.',
    },
    ja: {
      title: 'メールでサインイン',
      lead: 'アカウントのアドレスにリンクとコードをお送りします。パスワードは必要ありません。',
      submit: '送信',
      go_on: 'サインイン',
      here: 'このブラウザーでのお申し込みです。',
      elsewhere: '代わりにコードを入力してください',
      elsewhere_lead:
        'このリンクは、申し込みをしたブラウザーでのみ有効です。メールのコードもそちらで入力してください。お心当たりがない場合は何もせず、コードを誰にも教えないでください。',
    },
    'zh-Hans': {
      title: '通过邮件登录',
      lead: '我们会向您账户的地址发送链接和验证码。无需密码。',
      submit: '发送',
      go_on: '登录',
      here: '这是您在此浏览器中请求的。',
      elsewhere: '请改为输入验证码',
      elsewhere_lead:
        '此链接只能在发出请求的浏览器中使用，邮件中的验证码也是。如果不是您请求的，请勿操作，也不要把验证码告诉任何人。',
    },
    ar: {
      title: 'تسجيل الدخول بالبريد',
      lead: 'نرسل رابطًا ورمزًا إلى عنوان حسابكم. لا حاجة إلى كلمة مرور.',
      submit: 'إرسال',
      go_on: 'تسجيل الدخول',
      here: 'طلبتم ذلك في هذا المتصفح.',
      elsewhere: 'أدخلوا الرمز بدلًا من ذلك',
      elsewhere_lead:
        'يعمل هذا الرابط في المتصفح الذي طُلب فيه، وكذلك الرمز الوارد في الرسالة. إذا لم تطلبوه فلا تفعلوا شيئًا، ولا تخبروا أحدًا بالرمز.',
    },
  },
);
