/** What people can do where something did not go on. What happened stands in error.ts. */
import { catalogue } from '../../languages/catalogue.ts';

export const adviceSentences = catalogue(
  {
    unavailable: 'The service is busy or being looked after. Nothing was lost.',
    too_many: 'Wait a little, then try again.',
    forged: 'Go back and open the page again. Cookies have to be allowed for this site.',
    other_host:
      'You are at {here}, but this service lives at {host}, and a browser keeps the cookies of the two apart. Start again at {host}.',
    unapproved:
      'An application at {place} asked for something that it cannot have. It registered itself, and nobody who is signed in here has ever used it. Go there only if you came from there.',
    cannot_start: 'Open the application itself, and sign in there.',
    leaving:
      'The application at {place} registered itself, and nobody who is signed in here has ever used it. Go there only if you know it.',
    unknown: 'It may have expired. Go back to the application and start again.',
    stale: 'To keep your account safe, a request waits only a while. Start again at the application.',
    answered: 'Each request is answered once. Go back to the application to see whether you are signed in.',
    foreign:
      'Open the application in the browser you want to use and start again there. Cookies have to be allowed for this site.',
    foreign_host: 'You are at {here}, but this service lives at {host}. Start again at the application.',
    unregistered:
      'You are not signed in here, and the application asked to lead you on to an address that it has not registered.',
    asks_more: 'It requires a second step at sign-in, and this service has none. Ask those who run the application.',
  },
  {
    de: {
      unavailable: 'Der Dienst ist ausgelastet oder wird gerade gewartet. Es ist nichts verloren gegangen.',
      too_many: 'Warten Sie etwas und versuchen Sie es dann erneut.',
      forged: 'Gehen Sie zurück und öffnen Sie die Seite noch einmal. Cookies müssen für diese Website erlaubt sein.',
      other_host:
        'Sie sind auf {here}, dieser Dienst ist aber auf {host}, und ein Browser hält die Cookies der beiden auseinander. Beginnen Sie noch einmal auf {host}.',
      unapproved:
        'Eine Anwendung auf {place} hat um etwas gebeten, das sie nicht haben kann. Sie hat sich selbst registriert, und niemand, der hier angemeldet ist, hat sie je benutzt. Gehen Sie nur dorthin, wenn Sie von dort kamen.',
      cannot_start: 'Öffnen Sie die Anwendung selbst und melden Sie sich dort an.',
      leaving:
        'Die Anwendung auf {place} hat sich selbst registriert, und niemand, der hier angemeldet ist, hat sie je benutzt. Gehen Sie nur dorthin, wenn Sie sie kennen.',
      unknown: 'Vielleicht ist sie abgelaufen. Gehen Sie zurück zur Anwendung und beginnen Sie noch einmal.',
      stale: 'Zum Schutz Ihres Kontos wartet eine Anfrage nur eine Weile. Beginnen Sie in der Anwendung noch einmal.',
      answered:
        'Jede Anfrage wird einmal beantwortet. Gehen Sie zurück zur Anwendung und sehen Sie nach, ob Sie angemeldet sind.',
      foreign:
        'Öffnen Sie die Anwendung in dem Browser, den Sie benutzen möchten, und beginnen Sie dort noch einmal. Cookies müssen für diese Website erlaubt sein.',
      foreign_host:
        'Sie sind auf {here}, dieser Dienst ist aber auf {host}. Beginnen Sie in der Anwendung noch einmal.',
      unregistered:
        'Sie sind hier nicht angemeldet, und die Anwendung wollte Sie an eine Adresse weiterleiten, die sie nicht registriert hat.',
      asks_more:
        'Sie verlangt bei der Anmeldung einen zweiten Schritt, und dieser Dienst hat keinen. Wenden Sie sich an die Betreiber der Anwendung.',
    },
    fr: {
      unavailable: 'Le service est très sollicité ou en maintenance. Rien n’a été perdu.',
      too_many: 'Patientez un peu, puis réessayez.',
      forged: 'Revenez en arrière et ouvrez de nouveau la page. Les cookies doivent être autorisés pour ce site.',
      other_host:
        'Vous êtes sur {here}, mais ce service se trouve sur {host}, et un navigateur sépare les cookies des deux. Recommencez sur {host}.',
      unapproved:
        'Une application à l’adresse {place} a demandé quelque chose qu’elle ne peut pas obtenir. Elle s’est enregistrée elle-même, et aucune personne connectée ici ne l’a jamais utilisée. N’y allez que si vous en venez.',
      cannot_start: 'Ouvrez directement l’application et connectez-vous-y.',
      leaving:
        'L’application à l’adresse {place} s’est enregistrée elle-même, et aucune personne connectée ici ne l’a jamais utilisée. N’y allez que si vous la connaissez.',
      unknown: 'Elle a peut-être expiré. Revenez à l’application et recommencez.',
      stale: 'Pour protéger votre compte, une demande n’attend qu’un certain temps. Recommencez dans l’application.',
      answered: 'Chaque demande reçoit une seule réponse. Revenez à l’application pour voir si vous êtes connecté.',
      foreign:
        'Ouvrez l’application dans le navigateur que vous souhaitez utiliser et recommencez-y. Les cookies doivent être autorisés pour ce site.',
      foreign_host: 'Vous êtes sur {here}, mais ce service se trouve sur {host}. Recommencez dans l’application.',
      unregistered:
        'Vous n’êtes pas connecté ici, et l’application voulait vous mener à une adresse qu’elle n’a pas enregistrée.',
      asks_more:
        'Elle exige une deuxième étape à la connexion, et ce service n’en propose pas. Adressez-vous aux responsables de l’application.',
    },
    es: {
      unavailable: 'El servicio está ocupado o en mantenimiento. No se ha perdido nada.',
      too_many: 'Espere un poco y vuelva a intentarlo.',
      forged: 'Vuelva atrás y abra la página de nuevo. Las cookies deben estar permitidas para este sitio.',
      other_host:
        'Está en {here}, pero este servicio se encuentra en {host}, y el navegador mantiene separadas las cookies de ambos. Empiece de nuevo en {host}.',
      unapproved:
        'Una aplicación en {place} ha pedido algo que no puede obtener. Se registró por sí misma y nadie con sesión iniciada aquí la ha usado nunca. Vaya allí solo si viene de allí.',
      cannot_start: 'Abra la propia aplicación e inicie sesión en ella.',
      leaving:
        'La aplicación en {place} se registró por sí misma y nadie con sesión iniciada aquí la ha usado nunca. Vaya allí solo si la conoce.',
      unknown: 'Es posible que haya caducado. Vuelva a la aplicación y empiece de nuevo.',
      stale: 'Para proteger su cuenta, una solicitud solo espera un tiempo. Empiece de nuevo en la aplicación.',
      answered: 'Cada solicitud se responde una sola vez. Vuelva a la aplicación para ver si tiene la sesión iniciada.',
      foreign:
        'Abra la aplicación en el navegador que desee usar y empiece de nuevo allí. Las cookies deben estar permitidas para este sitio.',
      foreign_host: 'Está en {here}, pero este servicio se encuentra en {host}. Empiece de nuevo en la aplicación.',
      unregistered:
        'No tiene la sesión iniciada aquí, y la aplicación quería llevarle a una dirección que no ha registrado.',
      asks_more:
        'Exige un segundo paso al iniciar sesión y este servicio no lo tiene. Consulte a los responsables de la aplicación.',
    },
    pt: {
      unavailable: 'O serviço está ocupado ou em manutenção. Nada se perdeu.',
      too_many: 'Aguarde um pouco e tente de novo.',
      forged: 'Volte e abra a página novamente. Os cookies precisam estar permitidos para este site.',
      other_host:
        'Você está em {here}, mas este serviço fica em {host}, e o navegador mantém separados os cookies dos dois. Comece de novo em {host}.',
      unapproved:
        'Um aplicativo em {place} pediu algo que não pode ter. Ele se registrou sozinho, e ninguém com sessão aberta aqui jamais o usou. Vá até lá apenas se você veio de lá.',
      cannot_start: 'Abra o próprio aplicativo e entre por lá.',
      leaving:
        'O aplicativo em {place} se registrou sozinho, e ninguém com sessão aberta aqui jamais o usou. Vá até lá apenas se você o conhece.',
      unknown: 'Ela pode ter expirado. Volte ao aplicativo e comece de novo.',
      stale: 'Para proteger sua conta, uma solicitação espera apenas algum tempo. Comece de novo no aplicativo.',
      answered: 'Cada solicitação é respondida uma única vez. Volte ao aplicativo para ver se sua sessão está aberta.',
      foreign:
        'Abra o aplicativo no navegador que deseja usar e comece de novo por lá. Os cookies precisam estar permitidos para este site.',
      foreign_host: 'Você está em {here}, mas este serviço fica em {host}. Comece de novo no aplicativo.',
      unregistered: 'Você não tem sessão aberta aqui, e o aplicativo queria levá-lo a um endereço que não registrou.',
      asks_more:
        'Ele exige uma segunda etapa ao entrar, e este serviço não tem nenhuma. Fale com os responsáveis pelo aplicativo.',
    },
    pl: {
      unavailable: 'Serwis jest przeciążony albo trwają w nim prace. Nic nie zostało utracone.',
      too_many: 'Odczekaj chwilę, a potem spróbuj ponownie.',
      forged: 'Wróć i otwórz stronę jeszcze raz. Pliki cookie muszą być dozwolone dla tej witryny.',
      other_host:
        'To jest {here}, ale ten serwis działa pod adresem {host}, a przeglądarka oddziela pliki cookie obu adresów. Zacznij od nowa na {host}.',
      unapproved:
        'Aplikacja pod adresem {place} poprosiła o coś, czego mieć nie może. Zarejestrowała się sama i nikt z zalogowanych tutaj nigdy jej nie używał. Przejdź tam tylko wtedy, gdy stamtąd przychodzisz.',
      cannot_start: 'Otwórz samą aplikację i zaloguj się w niej.',
      leaving:
        'Aplikacja pod adresem {place} zarejestrowała się sama i nikt z zalogowanych tutaj nigdy jej nie używał. Przejdź tam tylko wtedy, gdy ją znasz.',
      unknown: 'Mogło wygasnąć. Wróć do aplikacji i zacznij od nowa.',
      stale: 'Dla bezpieczeństwa Twojego konta żądanie czeka tylko przez pewien czas. Zacznij od nowa w aplikacji.',
      answered: 'Na każde żądanie odpowiada się tylko raz. Wróć do aplikacji i sprawdź, czy logowanie się powiodło.',
      foreign:
        'Otwórz aplikację w przeglądarce, której chcesz używać, i zacznij tam od nowa. Pliki cookie muszą być dozwolone dla tej witryny.',
      foreign_host: 'To jest {here}, ale ten serwis działa pod adresem {host}. Zacznij od nowa w aplikacji.',
      unregistered:
        'Nikt nie jest tu zalogowany, a aplikacja chciała przekierować Cię pod adres, którego nie zarejestrowała.',
      asks_more:
        'Wymaga drugiego kroku przy logowaniu, a ten serwis go nie ma. Zwróć się do osób prowadzących aplikację.',
    },
    ja: {
      unavailable: 'サービスが混み合っているか、メンテナンス中です。失われたものはありません。',
      too_many: '少し待ってから、もう一度お試しください。',
      forged: '前に戻って、ページを開き直してください。このサイトの Cookie を許可する必要があります。',
      other_host:
        '現在 {here} にいますが、このサービスは {host} にあり、ブラウザーは両者の Cookie を別々に扱います。{host} からやり直してください。',
      unapproved:
        '{place} のアプリが、許可されていないものを要求しました。このアプリは自ら登録したもので、ここにログインしている人は誰も使ったことがありません。そこから来た場合にのみ移動してください。',
      cannot_start: 'アプリを直接開いて、そこでログインしてください。',
      leaving:
        '{place} のアプリは自ら登録したもので、ここにログインしている人は誰も使ったことがありません。ご存じの場合にのみ移動してください。',
      unknown: '有効期限が切れた可能性があります。アプリに戻ってやり直してください。',
      stale: 'アカウントを守るため、リクエストの待ち時間には限りがあります。アプリからやり直してください。',
      answered: '各リクエストへの回答は一度だけです。アプリに戻り、ログインできているかご確認ください。',
      foreign:
        '使いたいブラウザーでアプリを開き、そこからやり直してください。このサイトの Cookie を許可する必要があります。',
      foreign_host: '現在 {here} にいますが、このサービスは {host} にあります。アプリからやり直してください。',
      unregistered: 'ここではログインしていません。また、アプリが登録していないアドレスへの移動を求めました。',
      asks_more:
        'このアプリはログイン時に二段階目の確認を必要としますが、このサービスにはありません。アプリの運営者にお問い合わせください。',
    },
    'zh-Hans': {
      unavailable: '服务繁忙或正在维护。没有丢失任何内容。',
      too_many: '请稍等片刻，然后重试。',
      forged: '请返回并重新打开页面。需要允许此网站使用 Cookie。',
      other_host: '您正在访问 {here}，但此服务位于 {host}，浏览器会将两者的 Cookie 分开保存。请从 {host} 重新开始。',
      unapproved:
        '位于 {place} 的应用请求了它无法获得的内容。它是自行注册的，此处登录的人从未使用过它。仅当您来自该处时才前往。',
      cannot_start: '请直接打开该应用，并在那里登录。',
      leaving: '位于 {place} 的应用是自行注册的，此处登录的人从未使用过它。仅当您了解它时才前往。',
      unknown: '它可能已过期。请返回应用并重新开始。',
      stale: '为保护您的账号，请求只等待一段时间。请在应用中重新开始。',
      answered: '每个请求只答复一次。请返回应用，查看您是否已登录。',
      foreign: '请在您想使用的浏览器中打开应用，并在那里重新开始。需要允许此网站使用 Cookie。',
      foreign_host: '您正在访问 {here}，但此服务位于 {host}。请在应用中重新开始。',
      unregistered: '您未在此处登录，并且该应用要求转到一个它没有注册的地址。',
      asks_more: '它要求登录时进行第二步验证，而此服务没有提供。请联系该应用的运营者。',
    },
    ar: {
      unavailable: 'الخدمة مشغولة أو قيد الصيانة. لم يُفقد أي شيء.',
      too_many: 'انتظر قليلًا ثم حاول مرة أخرى.',
      forged: 'ارجع وافتح الصفحة من جديد. يجب السماح بملفات تعريف الارتباط لهذا الموقع.',
      other_host:
        'أنت على {here}، لكن هذه الخدمة موجودة على {host}، والمتصفح يفصل بين ملفات تعريف الارتباط للموقعين. ابدأ من جديد على {host}.',
      unapproved:
        'طلب تطبيق على {place} شيئًا لا يمكنه الحصول عليه. لقد سجّل نفسه بنفسه، ولم يستخدمه أي شخص مسجّل الدخول هنا من قبل. انتقل إليه فقط إذا أتيت منه.',
      cannot_start: 'افتح التطبيق نفسه وسجّل الدخول فيه.',
      leaving:
        'سجّل التطبيق على {place} نفسه بنفسه، ولم يستخدمه أي شخص مسجّل الدخول هنا من قبل. انتقل إليه فقط إذا كنت تعرفه.',
      unknown: 'ربما انتهت صلاحيته. ارجع إلى التطبيق وابدأ من جديد.',
      stale: 'لحماية حسابك، لا ينتظر الطلب إلا مدة محدودة. ابدأ من جديد في التطبيق.',
      answered: 'يُجاب عن كل طلب مرة واحدة. ارجع إلى التطبيق لترى ما إذا كنت مسجّل الدخول.',
      foreign:
        'افتح التطبيق في المتصفح الذي تريد استخدامه وابدأ من جديد هناك. يجب السماح بملفات تعريف الارتباط لهذا الموقع.',
      foreign_host: 'أنت على {here}، لكن هذه الخدمة موجودة على {host}. ابدأ من جديد في التطبيق.',
      unregistered: 'أنت غير مسجّل الدخول هنا، وطلب التطبيق نقلك إلى عنوان لم يسجّله.',
      asks_more: 'يتطلب خطوة ثانية عند تسجيل الدخول، وهذه الخدمة لا توفرها. تواصل مع القائمين على التطبيق.',
    },
  },
);
