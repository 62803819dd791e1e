/** Passkeys on sign-in pages; the last four are problems, by the check that failed. */
import { catalogue } from '../../languages/catalogue.ts';

export const passkeySentences = catalogue(
  {
    sign_in: 'Sign in with a passkey',
    failed: 'Your browser could not use a passkey here. Try again, or sign in another way.',
    second_lead: 'Show with your passkey that it is you.',
    needs_browser: 'Your passkey needs a browser that knows passkeys and runs JavaScript.',
    passkey: 'That passkey could not be checked. Try again, or sign in another way.',
    passkey_unknown: 'That passkey is not known here any more. Sign in another way.',
    passkey_challenge: 'That took too long, or was sent twice. Try again.',
    passkey_count: 'That passkey may have been copied, and does not count here. Sign in another way, and replace it.',
  },
  {
    de: {
      sign_in: 'Mit Passkey anmelden',
      failed:
        'Ihr Browser konnte hier keinen Passkey verwenden. Versuchen Sie es noch einmal, oder melden Sie sich anders an.',
      second_lead: 'Zeigen Sie mit Ihrem Passkey, dass Sie es sind.',
      needs_browser: 'Für Ihren Passkey braucht es einen Browser, der Passkeys kennt und JavaScript ausführt.',
      passkey: 'Dieser Passkey ließ sich nicht prüfen. Versuchen Sie es noch einmal, oder melden Sie sich anders an.',
      passkey_unknown: 'Dieser Passkey ist hier nicht mehr bekannt. Melden Sie sich anders an.',
      passkey_challenge: 'Das hat zu lange gedauert oder wurde zweimal gesendet. Versuchen Sie es noch einmal.',
      passkey_count:
        'Dieser Passkey wurde möglicherweise kopiert und gilt hier nicht. Melden Sie sich anders an, und ersetzen Sie ihn.',
    },
    fr: {
      sign_in: 'Se connecter avec une clé d’accès',
      failed: 'Votre navigateur n’a pas pu utiliser de clé d’accès ici. Réessayez ou connectez-vous autrement.',
      second_lead: 'Confirmez votre identité avec votre clé d’accès.',
      needs_browser: 'Votre clé d’accès demande un navigateur qui connaît les clés d’accès et exécute JavaScript.',
      passkey: 'Cette clé d’accès n’a pas pu être vérifiée. Réessayez ou connectez-vous autrement.',
      passkey_unknown: 'Cette clé d’accès n’est plus connue ici. Connectez-vous autrement.',
      passkey_challenge: 'Cela a pris trop de temps ou a été envoyé deux fois. Réessayez.',
      passkey_count:
        'Cette clé d’accès a peut-être été copiée et n’est pas acceptée ici. Connectez-vous autrement et remplacez-la.',
    },
    es: {
      sign_in: 'Iniciar sesión con una llave de acceso',
      failed:
        'Su navegador no ha podido usar una llave de acceso aquí. Inténtelo de nuevo o inicie sesión de otra forma.',
      second_lead: 'Confirme su identidad con su llave de acceso.',
      needs_browser: 'Su llave de acceso necesita un navegador que conozca las llaves de acceso y ejecute JavaScript.',
      passkey: 'No se ha podido comprobar esa llave de acceso. Inténtelo de nuevo o inicie sesión de otra forma.',
      passkey_unknown: 'Esa llave de acceso ya no se conoce aquí. Inicie sesión de otra forma.',
      passkey_challenge: 'Ha tardado demasiado o se ha enviado dos veces. Inténtelo de nuevo.',
      passkey_count:
        'Es posible que esa llave de acceso se haya copiado y no se acepta aquí. Inicie sesión de otra forma y sustitúyala.',
    },
    pt: {
      sign_in: 'Entrar com uma chave de acesso',
      failed: 'Seu navegador não conseguiu usar uma chave de acesso aqui. Tente de novo ou entre de outra forma.',
      second_lead: 'Confirme que é você com sua chave de acesso.',
      needs_browser: 'Sua chave de acesso precisa de um navegador que conheça chaves de acesso e execute JavaScript.',
      passkey: 'Não foi possível verificar essa chave de acesso. Tente de novo ou entre de outra forma.',
      passkey_unknown: 'Essa chave de acesso não é mais conhecida aqui. Entre de outra forma.',
      passkey_challenge: 'Isso demorou demais ou foi enviado duas vezes. Tente de novo.',
      passkey_count:
        'Essa chave de acesso pode ter sido copiada e não é aceita aqui. Entre de outra forma e substitua-a.',
    },
    pl: {
      sign_in: 'Zaloguj się kluczem dostępu',
      failed: 'Przeglądarka nie mogła użyć tutaj klucza dostępu. Spróbuj ponownie lub zaloguj się inaczej.',
      second_lead: 'Potwierdź swoją tożsamość kluczem dostępu.',
      needs_browser: 'Do użycia klucza dostępu potrzebna jest przeglądarka obsługująca klucze dostępu i JavaScript.',
      passkey: 'Nie udało się sprawdzić tego klucza dostępu. Spróbuj ponownie lub zaloguj się inaczej.',
      passkey_unknown: 'Ten klucz dostępu nie jest tu już znany. Zaloguj się inaczej.',
      passkey_challenge: 'Trwało to zbyt długo lub zostało wysłane dwukrotnie. Spróbuj ponownie.',
      passkey_count:
        'Ten klucz dostępu mógł zostać skopiowany i nie jest tu przyjmowany. Zaloguj się inaczej i wymień go.',
    },
    ja: {
      sign_in: 'パスキーでログイン',
      failed: 'このブラウザーではパスキーを使えませんでした。もう一度試すか、別の方法でログインしてください。',
      second_lead: 'パスキーでご本人であることを確認してください。',
      needs_browser: 'パスキーを使うには、パスキーに対応し JavaScript が使えるブラウザーが必要です。',
      passkey: 'このパスキーを確認できませんでした。もう一度試すか、別の方法でログインしてください。',
      passkey_unknown: 'このパスキーは現在登録されていません。別の方法でログインしてください。',
      passkey_challenge: '時間がかかりすぎたか、二重に送信されました。もう一度お試しください。',
      passkey_count:
        'このパスキーは複製された可能性があるため使用できません。別の方法でログインし、パスキーを作り直してください。',
    },
    'zh-Hans': {
      sign_in: '使用通行密钥登录',
      failed: '您的浏览器未能在此使用通行密钥。请重试，或用其他方式登录。',
      second_lead: '请用您的通行密钥确认是您本人。',
      needs_browser: '使用通行密钥需要支持通行密钥并运行 JavaScript 的浏览器。',
      passkey: '无法验证该通行密钥。请重试，或用其他方式登录。',
      passkey_unknown: '此处已不再识别该通行密钥。请用其他方式登录。',
      passkey_challenge: '耗时过长或重复提交。请重试。',
      passkey_count: '该通行密钥可能已被复制，此处不予接受。请用其他方式登录，并更换它。',
    },
    ar: {
      sign_in: 'تسجيل الدخول بمفتاح مرور',
      failed: 'تعذّر على متصفحك استخدام مفتاح مرور هنا. حاول مرة أخرى أو سجّل الدخول بطريقة أخرى.',
      second_lead: 'أكّد هويتك بمفتاح المرور.',
      needs_browser: 'لاستخدام مفتاح المرور يلزم متصفح يعرف مفاتيح المرور ويشغّل JavaScript.',
      passkey: 'تعذّر التحقق من مفتاح المرور هذا. حاول مرة أخرى أو سجّل الدخول بطريقة أخرى.',
      passkey_unknown: 'مفتاح المرور هذا لم يعد معروفًا هنا. سجّل الدخول بطريقة أخرى.',
      passkey_challenge: 'استغرق ذلك وقتًا طويلًا أو أُرسل مرتين. حاول مرة أخرى.',
      passkey_count: 'ربما نُسخ مفتاح المرور هذا، ولذلك لا يُقبل هنا. سجّل الدخول بطريقة أخرى واستبدله.',
    },
  },
);
