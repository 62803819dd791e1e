import { catalogue } from '../../languages/catalogue.ts';

export const selectAccountSentences = catalogue(
  {
    title: 'Sign in: choose an account',
    title_client: 'Sign in to {client}: choose an account',
    heading: 'Choose an account',
  },
  {
    de: {
      title: 'Anmelden: Konto auswählen',
      title_client: 'Bei {client} anmelden: Konto auswählen',
      heading: 'Konto auswählen',
    },
    fr: {
      title: 'Connexion : choisir un compte',
      title_client: 'Se connecter à {client} : choisir un compte',
      heading: 'Choisir un compte',
    },
    es: {
      title: 'Iniciar sesión: elegir una cuenta',
      title_client: 'Iniciar sesión en {client}: elegir una cuenta',
      heading: 'Elija una cuenta',
    },
    pt: {
      title: 'Entrar: escolher uma conta',
      title_client: 'Entrar em {client}: escolher uma conta',
      heading: 'Escolha uma conta',
    },
    pl: {
      title: 'Logowanie: wybierz konto',
      title_client: 'Zaloguj się do {client}: wybierz konto',
      heading: 'Wybierz konto',
    },
    ja: {
      title: 'ログイン：アカウントの選択',
      title_client: '{client} にログイン：アカウントの選択',
      heading: 'アカウントの選択',
    },
    'zh-Hans': {
      title: '登录：选择账号',
      title_client: '登录 {client}：选择账号',
      heading: '选择账号',
    },
    ar: {
      title: 'تسجيل الدخول: اختيار حساب',
      title_client: 'تسجيل الدخول إلى {client}: اختيار حساب',
      heading: 'اختيار حساب',
    },
  },
);
