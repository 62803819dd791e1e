/** What people read where something did not go on: what happened, and what they can do. */
import { catalogue } from '../../languages/catalogue.ts';

export const errorSentences = catalogue(
  {
    heading: 'This request can’t continue',
    advice: 'Go back to the application you came from and try again. If it happens again, tell the people who run it.',
    developers: 'Details for developers',
    explained:
      'Those who run this server can look up this request id ({command}). RFC 6749 and OpenID Connect Core explain the error code.',
    not_found: 'There is no page here',
    server_error: 'Something went wrong',
    unavailable: 'Please try again in a moment',
    unavailable_advice: 'The service is busy or being looked after. Nothing was lost.',
    too_many: 'Too many tries',
    too_many_advice: 'Wait a little, then try again.',
    forged_advice: 'Go back and open the page again. Cookies have to be allowed for this site.',
    other_host_advice:
      'You are at {here}, but this service lives at {host}, and a browser keeps the cookies of the two apart. Start again at {host}.',
    unapproved_advice:
      'An application at {place} asked for something that it cannot have. It registered itself, and nobody who is signed in here has ever used it. Go there only if you came from there.',
    cannot_start: 'This link can’t start the application',
    cannot_start_advice: 'Open the application itself, and sign in there.',
    leaving: 'You are about to leave',
    leaving_advice:
      'The application at {place} registered itself, and nobody who is signed in here has ever used it. Go there only if you know it.',
    unknown: 'This request is not known',
    unknown_advice: 'It may have expired. Go back to the application and start again.',
    stale: 'This took too long',
    stale_advice: 'To keep your account safe, a request waits only a while. Start again at the application.',
    answered: 'This was answered already',
    answered_advice: 'Each request is answered once. Go back to the application to see whether you are signed in.',
    foreign: 'This was started in another browser',
    foreign_advice:
      'Open the application in the browser you want to use and start again there. Cookies have to be allowed for this site.',
    foreign_host_advice: 'You are at {here}, but this service lives at {host}. Start again at the application.',
    unregistered: 'This address isn’t registered',
    unregistered_advice:
      'You are not signed in here, and the application asked to lead you on to an address that it has not registered.',
    asks_more: 'This application asks for more',
    asks_more_advice:
      'It requires a second step at sign-in, and this service has none. Ask those who run the application.',
  },
  {
    de: {
      heading: 'Hier geht es nicht weiter',
      advice:
        'Gehen Sie zurück zur Anwendung, von der Sie kamen, und versuchen Sie es noch einmal. Passiert es wieder, sagen Sie es denen, die sie betreiben.',
      developers: 'Angaben für Entwickler',
      explained:
        'Wer diesen Server betreibt, kann diese Anfrage-ID nachschlagen ({command}). RFC 6749 und OpenID Connect Core erklären den Fehlercode.',
      not_found: 'Hier ist keine Seite',
      server_error: 'Etwas ist schiefgegangen',
      unavailable: 'Bitte versuchen Sie es gleich noch einmal',
      unavailable_advice: 'Der Dienst ist ausgelastet oder wird gerade gewartet. Es ist nichts verloren gegangen.',
      too_many: 'Zu viele Versuche',
      too_many_advice: 'Warten Sie etwas und versuchen Sie es dann erneut.',
      forged_advice:
        'Gehen Sie zurück und öffnen Sie die Seite noch einmal. Cookies müssen für diese Website erlaubt sein.',
      other_host_advice:
        'Sie sind auf {here}, dieser Dienst ist aber auf {host}, und ein Browser hält die Cookies der beiden auseinander. Beginnen Sie noch einmal auf {host}.',
      unapproved_advice:
        'Eine Anwendung auf {place} hat um etwas gebeten, das sie nicht haben kann. Sie hat sich selbst registriert, und niemand, der hier angemeldet ist, hat sie je benutzt. Gehen Sie nur dorthin, wenn Sie von dort kamen.',
      cannot_start: 'Dieser Link kann die Anwendung nicht starten',
      cannot_start_advice: 'Öffnen Sie die Anwendung selbst und melden Sie sich dort an.',
      leaving: 'Sie sind dabei, diese Seite zu verlassen',
      leaving_advice:
        'Die Anwendung auf {place} hat sich selbst registriert, und niemand, der hier angemeldet ist, hat sie je benutzt. Gehen Sie nur dorthin, wenn Sie sie kennen.',
      unknown: 'Diese Anfrage ist nicht bekannt',
      unknown_advice: 'Vielleicht ist sie abgelaufen. Gehen Sie zurück zur Anwendung und beginnen Sie noch einmal.',
      stale: 'Das hat zu lange gedauert',
      stale_advice:
        'Zum Schutz Ihres Kontos wartet eine Anfrage nur eine Weile. Beginnen Sie in der Anwendung noch einmal.',
      answered: 'Das wurde schon beantwortet',
      answered_advice:
        'Jede Anfrage wird einmal beantwortet. Gehen Sie zurück zur Anwendung und sehen Sie nach, ob Sie angemeldet sind.',
      foreign: 'Das wurde in einem anderen Browser begonnen',
      foreign_advice:
        'Öffnen Sie die Anwendung in dem Browser, den Sie benutzen möchten, und beginnen Sie dort noch einmal. Cookies müssen für diese Website erlaubt sein.',
      foreign_host_advice:
        'Sie sind auf {here}, dieser Dienst ist aber auf {host}. Beginnen Sie in der Anwendung noch einmal.',
      unregistered: 'Diese Adresse ist nicht registriert',
      unregistered_advice:
        'Sie sind hier nicht angemeldet, und die Anwendung wollte Sie an eine Adresse weiterleiten, die sie nicht registriert hat.',
      asks_more: 'Diese Anwendung verlangt mehr',
      asks_more_advice:
        'Sie verlangt bei der Anmeldung einen zweiten Schritt, und dieser Dienst hat keinen. Wenden Sie sich an die Betreiber der Anwendung.',
    },
    fr: {
      heading: 'Cette demande ne peut pas continuer',
      advice:
        'Revenez à l’application d’où vous venez et réessayez. Si cela se reproduit, signalez-le à ses responsables.',
      developers: 'Informations pour les développeurs',
      explained:
        'Les responsables de ce serveur peuvent rechercher cet identifiant ({command}). La RFC 6749 et OpenID Connect Core expliquent le code d’erreur.',
      not_found: 'Il n’y a pas de page ici',
      server_error: 'Une erreur s’est produite',
      unavailable: 'Veuillez réessayer dans un instant',
      unavailable_advice: 'Le service est très sollicité ou en maintenance. Rien n’a été perdu.',
      too_many: 'Trop de tentatives',
      too_many_advice: 'Patientez un peu, puis réessayez.',
      forged_advice:
        'Revenez en arrière et ouvrez de nouveau la page. Les cookies doivent être autorisés pour ce site.',
      other_host_advice:
        'Vous êtes sur {here}, mais ce service se trouve sur {host}, et un navigateur sépare les cookies des deux. Recommencez sur {host}.',
      unapproved_advice:
        'Une application à l’adresse {place} a demandé quelque chose qu’elle ne peut pas obtenir. Elle s’est enregistrée elle-même, et aucune personne connectée ici ne l’a jamais utilisée. N’y allez que si vous en venez.',
      cannot_start: 'Ce lien ne peut pas ouvrir l’application',
      cannot_start_advice: 'Ouvrez directement l’application et connectez-vous-y.',
      leaving: 'Vous allez quitter ce site',
      leaving_advice:
        'L’application à l’adresse {place} s’est enregistrée elle-même, et aucune personne connectée ici ne l’a jamais utilisée. N’y allez que si vous la connaissez.',
      unknown: 'Cette demande est inconnue',
      unknown_advice: 'Elle a peut-être expiré. Revenez à l’application et recommencez.',
      stale: 'Le délai est dépassé',
      stale_advice:
        'Pour protéger votre compte, une demande n’attend qu’un certain temps. Recommencez dans l’application.',
      answered: 'Cette demande a déjà reçu une réponse',
      answered_advice:
        'Chaque demande reçoit une seule réponse. Revenez à l’application pour voir si vous êtes connecté.',
      foreign: 'Cette demande a commencé dans un autre navigateur',
      foreign_advice:
        'Ouvrez l’application dans le navigateur que vous souhaitez utiliser et recommencez-y. Les cookies doivent être autorisés pour ce site.',
      foreign_host_advice:
        'Vous êtes sur {here}, mais ce service se trouve sur {host}. Recommencez dans l’application.',
      unregistered: 'Cette adresse n’est pas enregistrée',
      unregistered_advice:
        'Vous n’êtes pas connecté ici, et l’application voulait vous mener à une adresse qu’elle n’a pas enregistrée.',
      asks_more: 'Cette application en demande plus',
      asks_more_advice:
        'Elle exige une deuxième étape à la connexion, et ce service n’en propose pas. Adressez-vous aux responsables de l’application.',
    },
    es: {
      heading: 'Esta solicitud no puede continuar',
      advice:
        'Vuelva a la aplicación de la que viene e inténtelo de nuevo. Si vuelve a ocurrir, avise a sus responsables.',
      developers: 'Detalles para desarrolladores',
      explained:
        'Los responsables de este servidor pueden consultar este identificador ({command}). RFC 6749 y OpenID Connect Core explican el código de error.',
      not_found: 'Aquí no hay ninguna página',
      server_error: 'Algo ha salido mal',
      unavailable: 'Inténtelo de nuevo en un momento',
      unavailable_advice: 'El servicio está ocupado o en mantenimiento. No se ha perdido nada.',
      too_many: 'Demasiados intentos',
      too_many_advice: 'Espere un poco y vuelva a intentarlo.',
      forged_advice: 'Vuelva atrás y abra la página de nuevo. Las cookies deben estar permitidas para este sitio.',
      other_host_advice:
        'Está en {here}, pero este servicio se encuentra en {host}, y el navegador mantiene separadas las cookies de ambos. Empiece de nuevo en {host}.',
      unapproved_advice:
        'Una aplicación en {place} ha pedido algo que no puede obtener. Se registró por sí misma y nadie con sesión iniciada aquí la ha usado nunca. Vaya allí solo si viene de allí.',
      cannot_start: 'Este enlace no puede abrir la aplicación',
      cannot_start_advice: 'Abra la propia aplicación e inicie sesión en ella.',
      leaving: 'Está a punto de salir de este sitio',
      leaving_advice:
        'La aplicación en {place} se registró por sí misma y nadie con sesión iniciada aquí la ha usado nunca. Vaya allí solo si la conoce.',
      unknown: 'Esta solicitud no se conoce',
      unknown_advice: 'Es posible que haya caducado. Vuelva a la aplicación y empiece de nuevo.',
      stale: 'Ha pasado demasiado tiempo',
      stale_advice: 'Para proteger su cuenta, una solicitud solo espera un tiempo. Empiece de nuevo en la aplicación.',
      answered: 'Esta solicitud ya se respondió',
      answered_advice:
        'Cada solicitud se responde una sola vez. Vuelva a la aplicación para ver si tiene la sesión iniciada.',
      foreign: 'Esto se inició en otro navegador',
      foreign_advice:
        'Abra la aplicación en el navegador que desee usar y empiece de nuevo allí. Las cookies deben estar permitidas para este sitio.',
      foreign_host_advice:
        'Está en {here}, pero este servicio se encuentra en {host}. Empiece de nuevo en la aplicación.',
      unregistered: 'Esta dirección no está registrada',
      unregistered_advice:
        'No tiene la sesión iniciada aquí, y la aplicación quería llevarle a una dirección que no ha registrado.',
      asks_more: 'Esta aplicación pide más',
      asks_more_advice:
        'Exige un segundo paso al iniciar sesión y este servicio no lo tiene. Consulte a los responsables de la aplicación.',
    },
    pt: {
      heading: 'Esta solicitação não pode continuar',
      advice:
        'Volte ao aplicativo de onde você veio e tente de novo. Se acontecer outra vez, avise os responsáveis por ele.',
      developers: 'Detalhes para desenvolvedores',
      explained:
        'Os responsáveis por este servidor podem consultar este identificador ({command}). A RFC 6749 e o OpenID Connect Core explicam o código de erro.',
      not_found: 'Não há nenhuma página aqui',
      server_error: 'Algo deu errado',
      unavailable: 'Tente de novo em instantes',
      unavailable_advice: 'O serviço está ocupado ou em manutenção. Nada se perdeu.',
      too_many: 'Tentativas demais',
      too_many_advice: 'Aguarde um pouco e tente de novo.',
      forged_advice: 'Volte e abra a página novamente. Os cookies precisam estar permitidos para este site.',
      other_host_advice:
        'Você está em {here}, mas este serviço fica em {host}, e o navegador mantém separados os cookies dos dois. Comece de novo em {host}.',
      unapproved_advice:
        'Um aplicativo em {place} pediu algo que não pode ter. Ele se registrou sozinho, e ninguém com sessão aberta aqui jamais o usou. Vá até lá apenas se você veio de lá.',
      cannot_start: 'Este link não pode abrir o aplicativo',
      cannot_start_advice: 'Abra o próprio aplicativo e entre por lá.',
      leaving: 'Você está prestes a sair deste site',
      leaving_advice:
        'O aplicativo em {place} se registrou sozinho, e ninguém com sessão aberta aqui jamais o usou. Vá até lá apenas se você o conhece.',
      unknown: 'Esta solicitação não é conhecida',
      unknown_advice: 'Ela pode ter expirado. Volte ao aplicativo e comece de novo.',
      stale: 'Demorou demais',
      stale_advice: 'Para proteger sua conta, uma solicitação espera apenas algum tempo. Comece de novo no aplicativo.',
      answered: 'Isto já foi respondido',
      answered_advice:
        'Cada solicitação é respondida uma única vez. Volte ao aplicativo para ver se sua sessão está aberta.',
      foreign: 'Isto foi iniciado em outro navegador',
      foreign_advice:
        'Abra o aplicativo no navegador que deseja usar e comece de novo por lá. Os cookies precisam estar permitidos para este site.',
      foreign_host_advice: 'Você está em {here}, mas este serviço fica em {host}. Comece de novo no aplicativo.',
      unregistered: 'Este endereço não está registrado',
      unregistered_advice:
        'Você não tem sessão aberta aqui, e o aplicativo queria levá-lo a um endereço que não registrou.',
      asks_more: 'Este aplicativo pede mais',
      asks_more_advice:
        'Ele exige uma segunda etapa ao entrar, e este serviço não tem nenhuma. Fale com os responsáveis pelo aplicativo.',
    },
    pl: {
      heading: 'Nie można kontynuować tego żądania',
      advice:
        'Wróć do aplikacji, z której przychodzisz, i spróbuj ponownie. Jeśli to się powtórzy, powiadom osoby, które ją prowadzą.',
      developers: 'Szczegóły dla programistów',
      explained:
        'Osoby prowadzące ten serwer mogą wyszukać ten identyfikator ({command}). Kod błędu objaśniają RFC 6749 i OpenID Connect Core.',
      not_found: 'Tutaj nie ma żadnej strony',
      server_error: 'Coś poszło nie tak',
      unavailable: 'Spróbuj ponownie za chwilę',
      unavailable_advice: 'Serwis jest przeciążony albo trwają w nim prace. Nic nie zostało utracone.',
      too_many: 'Zbyt wiele prób',
      too_many_advice: 'Odczekaj chwilę, a potem spróbuj ponownie.',
      forged_advice: 'Wróć i otwórz stronę jeszcze raz. Pliki cookie muszą być dozwolone dla tej witryny.',
      other_host_advice:
        'To jest {here}, ale ten serwis działa pod adresem {host}, a przeglądarka oddziela pliki cookie obu adresów. Zacznij od nowa na {host}.',
      unapproved_advice:
        'Aplikacja pod adresem {place} poprosiła o coś, czego mieć nie może. Zarejestrowała się sama i nikt z zalogowanych tutaj nigdy jej nie używał. Przejdź tam tylko wtedy, gdy stamtąd przychodzisz.',
      cannot_start: 'Ten link nie może uruchomić aplikacji',
      cannot_start_advice: 'Otwórz samą aplikację i zaloguj się w niej.',
      leaving: 'Zaraz opuścisz tę witrynę',
      leaving_advice:
        'Aplikacja pod adresem {place} zarejestrowała się sama i nikt z zalogowanych tutaj nigdy jej nie używał. Przejdź tam tylko wtedy, gdy ją znasz.',
      unknown: 'To żądanie nie jest znane',
      unknown_advice: 'Mogło wygasnąć. Wróć do aplikacji i zacznij od nowa.',
      stale: 'To trwało zbyt długo',
      stale_advice:
        'Dla bezpieczeństwa Twojego konta żądanie czeka tylko przez pewien czas. Zacznij od nowa w aplikacji.',
      answered: 'Na to żądanie już odpowiedziano',
      answered_advice:
        'Na każde żądanie odpowiada się tylko raz. Wróć do aplikacji i sprawdź, czy logowanie się powiodło.',
      foreign: 'To zaczęto w innej przeglądarce',
      foreign_advice:
        'Otwórz aplikację w przeglądarce, której chcesz używać, i zacznij tam od nowa. Pliki cookie muszą być dozwolone dla tej witryny.',
      foreign_host_advice: 'To jest {here}, ale ten serwis działa pod adresem {host}. Zacznij od nowa w aplikacji.',
      unregistered: 'Ten adres nie jest zarejestrowany',
      unregistered_advice:
        'Nikt nie jest tu zalogowany, a aplikacja chciała przekierować Cię pod adres, którego nie zarejestrowała.',
      asks_more: 'Ta aplikacja wymaga więcej',
      asks_more_advice:
        'Wymaga drugiego kroku przy logowaniu, a ten serwis go nie ma. Zwróć się do osób prowadzących aplikację.',
    },
    ja: {
      heading: 'このリクエストは続行できません',
      advice: '元のアプリに戻って、もう一度お試しください。繰り返し発生する場合は、アプリの運営者にお知らせください。',
      developers: '開発者向けの情報',
      explained:
        'このサーバーの運営者は、このリクエスト ID を調べることができます（{command}）。エラーコードの説明は RFC 6749 と OpenID Connect Core にあります。',
      not_found: 'ここにはページがありません',
      server_error: '問題が発生しました',
      unavailable: 'しばらくしてからもう一度お試しください',
      unavailable_advice: 'サービスが混み合っているか、メンテナンス中です。失われたものはありません。',
      too_many: '試行回数が多すぎます',
      too_many_advice: '少し待ってから、もう一度お試しください。',
      forged_advice: '前に戻って、ページを開き直してください。このサイトの Cookie を許可する必要があります。',
      other_host_advice:
        '現在 {here} にいますが、このサービスは {host} にあり、ブラウザーは両者の Cookie を別々に扱います。{host} からやり直してください。',
      unapproved_advice:
        '{place} のアプリが、許可されていないものを要求しました。このアプリは自ら登録したもので、ここにログインしている人は誰も使ったことがありません。そこから来た場合にのみ移動してください。',
      cannot_start: 'このリンクではアプリを開始できません',
      cannot_start_advice: 'アプリを直接開いて、そこでログインしてください。',
      leaving: 'このサイトを離れようとしています',
      leaving_advice:
        '{place} のアプリは自ら登録したもので、ここにログインしている人は誰も使ったことがありません。ご存じの場合にのみ移動してください。',
      unknown: 'このリクエストは不明です',
      unknown_advice: '有効期限が切れた可能性があります。アプリに戻ってやり直してください。',
      stale: '時間がかかりすぎました',
      stale_advice: 'アカウントを守るため、リクエストの待ち時間には限りがあります。アプリからやり直してください。',
      answered: 'このリクエストには回答済みです',
      answered_advice: '各リクエストへの回答は一度だけです。アプリに戻り、ログインできているかご確認ください。',
      foreign: '別のブラウザーで開始されました',
      foreign_advice:
        '使いたいブラウザーでアプリを開き、そこからやり直してください。このサイトの Cookie を許可する必要があります。',
      foreign_host_advice: '現在 {here} にいますが、このサービスは {host} にあります。アプリからやり直してください。',
      unregistered: 'このアドレスは登録されていません',
      unregistered_advice: 'ここではログインしていません。また、アプリが登録していないアドレスへの移動を求めました。',
      asks_more: 'このアプリはさらに確認を求めています',
      asks_more_advice:
        'このアプリはログイン時に二段階目の確認を必要としますが、このサービスにはありません。アプリの運営者にお問い合わせください。',
    },
    'zh-Hans': {
      heading: '此请求无法继续',
      advice: '请返回您来自的应用并重试。如果再次发生，请告知该应用的运营者。',
      developers: '供开发者使用的信息',
      explained: '此服务器的运营者可以查询此请求编号（{command}）。错误代码的说明见 RFC 6749 和 OpenID Connect Core。',
      not_found: '此处没有页面',
      server_error: '出错了',
      unavailable: '请稍后再试',
      unavailable_advice: '服务繁忙或正在维护。没有丢失任何内容。',
      too_many: '尝试次数过多',
      too_many_advice: '请稍等片刻，然后重试。',
      forged_advice: '请返回并重新打开页面。需要允许此网站使用 Cookie。',
      other_host_advice:
        '您正在访问 {here}，但此服务位于 {host}，浏览器会将两者的 Cookie 分开保存。请从 {host} 重新开始。',
      unapproved_advice:
        '位于 {place} 的应用请求了它无法获得的内容。它是自行注册的，此处登录的人从未使用过它。仅当您来自该处时才前往。',
      cannot_start: '此链接无法启动该应用',
      cannot_start_advice: '请直接打开该应用，并在那里登录。',
      leaving: '您即将离开此网站',
      leaving_advice: '位于 {place} 的应用是自行注册的，此处登录的人从未使用过它。仅当您了解它时才前往。',
      unknown: '未知的请求',
      unknown_advice: '它可能已过期。请返回应用并重新开始。',
      stale: '用时过长',
      stale_advice: '为保护您的账号，请求只等待一段时间。请在应用中重新开始。',
      answered: '此请求已得到答复',
      answered_advice: '每个请求只答复一次。请返回应用，查看您是否已登录。',
      foreign: '这是在另一个浏览器中发起的',
      foreign_advice: '请在您想使用的浏览器中打开应用，并在那里重新开始。需要允许此网站使用 Cookie。',
      foreign_host_advice: '您正在访问 {here}，但此服务位于 {host}。请在应用中重新开始。',
      unregistered: '此地址未注册',
      unregistered_advice: '您未在此处登录，并且该应用要求转到一个它没有注册的地址。',
      asks_more: '此应用要求更多验证',
      asks_more_advice: '它要求登录时进行第二步验证，而此服务没有提供。请联系该应用的运营者。',
    },
    ar: {
      heading: 'لا يمكن متابعة هذا الطلب',
      advice: 'ارجع إلى التطبيق الذي أتيت منه وحاول مرة أخرى. إذا تكرر ذلك، فأخبر القائمين عليه.',
      developers: 'تفاصيل للمطوّرين',
      explained:
        'يستطيع القائمون على هذا الخادم البحث عن معرّف الطلب هذا ({command}). يشرح RFC 6749 وOpenID Connect Core رمز الخطأ.',
      not_found: 'لا توجد صفحة هنا',
      server_error: 'حدث خطأ ما',
      unavailable: 'يرجى المحاولة مرة أخرى بعد قليل',
      unavailable_advice: 'الخدمة مشغولة أو قيد الصيانة. لم يُفقد أي شيء.',
      too_many: 'محاولات كثيرة جدًا',
      too_many_advice: 'انتظر قليلًا ثم حاول مرة أخرى.',
      forged_advice: 'ارجع وافتح الصفحة من جديد. يجب السماح بملفات تعريف الارتباط لهذا الموقع.',
      other_host_advice:
        'أنت على {here}، لكن هذه الخدمة موجودة على {host}، والمتصفح يفصل بين ملفات تعريف الارتباط للموقعين. ابدأ من جديد على {host}.',
      unapproved_advice:
        'طلب تطبيق على {place} شيئًا لا يمكنه الحصول عليه. لقد سجّل نفسه بنفسه، ولم يستخدمه أي شخص مسجّل الدخول هنا من قبل. انتقل إليه فقط إذا أتيت منه.',
      cannot_start: 'لا يمكن لهذا الرابط تشغيل التطبيق',
      cannot_start_advice: 'افتح التطبيق نفسه وسجّل الدخول فيه.',
      leaving: 'أنت على وشك مغادرة هذا الموقع',
      leaving_advice:
        'سجّل التطبيق على {place} نفسه بنفسه، ولم يستخدمه أي شخص مسجّل الدخول هنا من قبل. انتقل إليه فقط إذا كنت تعرفه.',
      unknown: 'هذا الطلب غير معروف',
      unknown_advice: 'ربما انتهت صلاحيته. ارجع إلى التطبيق وابدأ من جديد.',
      stale: 'استغرق هذا وقتًا طويلًا',
      stale_advice: 'لحماية حسابك، لا ينتظر الطلب إلا مدة محدودة. ابدأ من جديد في التطبيق.',
      answered: 'تمت الإجابة عن هذا الطلب من قبل',
      answered_advice: 'يُجاب عن كل طلب مرة واحدة. ارجع إلى التطبيق لترى ما إذا كنت مسجّل الدخول.',
      foreign: 'بدأ هذا في متصفح آخر',
      foreign_advice:
        'افتح التطبيق في المتصفح الذي تريد استخدامه وابدأ من جديد هناك. يجب السماح بملفات تعريف الارتباط لهذا الموقع.',
      foreign_host_advice: 'أنت على {here}، لكن هذه الخدمة موجودة على {host}. ابدأ من جديد في التطبيق.',
      unregistered: 'هذا العنوان غير مسجّل',
      unregistered_advice: 'أنت غير مسجّل الدخول هنا، وطلب التطبيق نقلك إلى عنوان لم يسجّله.',
      asks_more: 'يطلب هذا التطبيق المزيد',
      asks_more_advice: 'يتطلب خطوة ثانية عند تسجيل الدخول، وهذه الخدمة لا توفرها. تواصل مع القائمين على التطبيق.',
    },
  },
);
