/** What mails say in Arabic. */
import type { MailSentences } from '../sentences.ts';

export const ar: MailSentences = {
  hello: 'مرحبًا {name}،',
  button_hint: 'إذا لم يعمل الزر، فانسخ هذا العنوان إلى متصفحك:',
  code_label: 'أو أدخل هذا الرمز في الصفحة التي تطلبه:',
  lifetime: 'يعمل الرابط مرة واحدة فقط، ولمدة {time}.',
  ignore: 'إذا لم تكن أنت من طلب ذلك، فلا داعي لفعل أي شيء: لن يحدث شيء من دون الرابط.',
  look: 'إذا لم تكن أنت من فعل ذلك، فعيّن كلمة مرور جديدة فورًا وراجع حسابك: {url}',
  when: 'الوقت: {time}',
  why_account: 'وصلتك هذه الرسالة لأن هذا العنوان يخص حسابًا في {product}.',
  why_asked: 'وصلتك هذه الرسالة لأن شخصًا ما أدخل هذا العنوان في {product}.',
  why_invited: 'وصلتك هذه الرسالة لأنك دُعيت إلى {product}.',
  mails: {
    'reset-password': {
      subject: 'تعيين كلمة مرور جديدة في {product}',
      text: 'طلب شخص ما، نأمل أنه أنت، كلمة مرور جديدة للحساب {username}.',
      button: 'تعيين كلمة مرور جديدة',
    },
    'verify-email': {
      subject: 'تأكيد عنوانك في {product}',
      text: 'أُدخل هذا العنوان لإنشاء حساب جديد في {product}.',
      button: 'تأكيد العنوان',
    },
    'already-registered': {
      subject: 'لديك حساب في {product} بالفعل',
      text: 'أراد شخص ما، نأمل أنه أنت، إنشاء حساب بهذا العنوان. وهو يخص الحساب {username} بالفعل، ولم يتغير أي شيء.',
      button: 'تسجيل الدخول',
    },
    invitation: {
      subject: 'دعوة إلى {product}',
      text: 'أُنشئ لك الحساب {username}. اختر كلمة مرور وسيصبح لك.',
      button: 'قبول الدعوة',
    },
    'sign-in': {
      subject: 'تسجيل الدخول إلى {product}',
      text: 'يريد شخص ما، نأمل أنه أنت، تسجيل الدخول باسم {username}.',
      button: 'تسجيل الدخول',
    },
    'confirm-email': {
      subject: 'تأكيد عنوانك الجديد في {product}',
      text: 'سيصبح هذا عنوان الحساب {username}.',
      button: 'تأكيد العنوان',
    },
    'address-in-use': {
      subject: 'أُدخل عنوانك لحساب آخر في {product}',
      text: 'أراد شخص ما استخدام هذا العنوان لحساب آخر. وهو يخص حسابك، ولم يتغير أي شيء.',
      button: 'تسجيل الدخول',
    },
    'email-changed': {
      subject: 'تغيّر عنوانك في {product}',
      text: 'أصبح للحساب {username} عنوان آخر: {name}. إذا كنت أنت من غيّره، فلا داعي لفعل أي شيء. وإلا فإن الرابط أدناه يعيد هذا العنوان إلى الحساب ويسجّل خروجه من كل مكان.',
      button: 'التراجع عن التغيير',
    },
    notice: {
      subject: '{notice}',
      text: 'يتعلق هذا بالحساب {username} في {product}.',
      button: 'عرض الحساب',
    },
  },
  notices: {
    password_changed: 'تم تغيير كلمة المرور',
    password_removed: 'تمت إزالة كلمة المرور',
    passkey_added: 'تمت إضافة مفتاح مرور: {name}',
    passkey_removed: 'تمت إزالة مفتاح مرور: {name}',
    passkey_suspected: 'رُفض مفتاح مرور لأنه ربما نُسخ: {name}',
    authenticator_added: 'تم إعداد تطبيق مصادقة',
    authenticator_removed: 'تمت إزالة تطبيق المصادقة',
    recovery_codes_made: 'تم إنشاء رموز استرداد جديدة، ولم تعد القديمة صالحة',
    recovery_codes_removed: 'أُزيلت رموز الاسترداد ولم تعد صالحة',
    recovery_code_used: 'تم استخدام رمز استرداد',
    factors_reset: 'تمت إعادة تعيين عوامل المصادقة الثانية',
    upstream_linked: 'يمكنك الآن تسجيل الدخول عبر {name}',
    upstream_unlinked: 'لم يعد بإمكانك تسجيل الدخول عبر {name}',
    email_changed: 'أصبح هذا عنوان حسابك',
    email_restored: 'استعاد حسابك عنوانه السابق',
    account_deletion_asked: 'سيُحذف حسابك في {name}',
    account_deletion_cancelled: 'لن يُحذف حسابك',
    account_deleted: 'حُذف حسابك',
    account_suspected: 'أُدخلت كلمات مرور خاطئة كثيرة لحسابك، وأُبطئت المحاولات التالية',
    password_suspected: 'هناك من يعرف كلمة مرورك وأدخل رموزًا خاطئة مرارًا',
  },
};
