/** What mails say in Polish. */
import type { MailSentences } from '../sentences.ts';

export const pl: MailSentences = {
  hello: 'Dzień dobry, {name},',
  button_hint: 'Jeśli przycisk nie działa, skopiuj ten adres do przeglądarki:',
  code_label: 'Możesz też wpisać ten kod na stronie, która o niego prosi:',
  lifetime: 'Link działa jeden raz, przez {time}.',
  ignore: 'Jeśli to nie Ty, nie musisz nic robić: bez linku nic się nie stanie.',
  look: 'Jeśli to nie Ty, od razu ustaw nowe hasło i sprawdź swoje konto: {url}',
  when: 'Kiedy: {time}',
  why_account: 'Otrzymujesz tę wiadomość, ponieważ ten adres należy do konta w {product}.',
  why_asked: 'Otrzymujesz tę wiadomość, ponieważ ktoś wpisał ten adres w {product}.',
  why_invited: 'Otrzymujesz tę wiadomość, ponieważ masz zaproszenie do {product}.',
  mails: {
    'reset-password': {
      subject: 'Ustaw nowe hasło do {product}',
      text: 'Ktoś, mamy nadzieję, że Ty, poprosił o nowe hasło do konta {username}.',
      button: 'Ustaw nowe hasło',
    },
    'verify-email': {
      subject: 'Potwierdź swój adres w {product}',
      text: 'Ten adres podano przy zakładaniu nowego konta w {product}.',
      button: 'Potwierdź adres',
    },
    'already-registered': {
      subject: 'Masz już konto w {product}',
      text: 'Ktoś, mamy nadzieję, że Ty, chciał założyć konto z tym adresem. Należy on już do konta {username}. Nic nie zostało zmienione.',
      button: 'Zaloguj się',
    },
    invitation: {
      subject: 'Zaproszenie do {product}',
      text: 'Utworzono dla Ciebie konto {username}. Wybierz hasło, a będzie Twoje.',
      button: 'Przyjmij zaproszenie',
    },
    'sign-in': {
      subject: 'Logowanie do {product}',
      text: 'Ktoś, mamy nadzieję, że Ty, chce się zalogować jako {username}.',
      button: 'Zaloguj się',
    },
    'confirm-email': {
      subject: 'Potwierdź nowy adres w {product}',
      text: 'To ma być adres konta {username}.',
      button: 'Potwierdź adres',
    },
    'address-in-use': {
      subject: 'Ktoś podał Twój adres dla innego konta w {product}',
      text: 'Ktoś chciał przypisać ten adres do innego konta. Należy on do Twojego i nic nie zostało zmienione.',
      button: 'Zaloguj się',
    },
    'email-changed': {
      subject: 'Twój adres w {product} został zmieniony',
      text: 'Konto {username} ma teraz inny adres: {name}. Jeśli to Ty, nie musisz nic robić. Jeśli nie, poniższy link przywróci kontu ten adres i wyloguje je wszędzie.',
      button: 'Cofnij zmianę',
    },
    notice: {
      subject: '{notice}',
      text: 'Dotyczy konta {username} w {product}.',
      button: 'Zobacz konto',
    },
  },
  notices: {
    password_changed: 'Twoje hasło zostało zmienione',
    password_removed: 'Twoje hasło zostało usunięte',
    passkey_added: 'Dodano klucz dostępu: {name}',
    passkey_removed: 'Usunięto klucz dostępu: {name}',
    passkey_suspected: 'Klucz dostępu został odrzucony, ponieważ mógł zostać skopiowany: {name}',
    authenticator_added: 'Skonfigurowano aplikację uwierzytelniającą',
    authenticator_removed: 'Usunięto aplikację uwierzytelniającą',
    recovery_codes_made: 'Utworzono nowe kody odzyskiwania, a stare już nie działają',
    recovery_codes_removed: 'Kody odzyskiwania zostały usunięte i już nie działają',
    recovery_code_used: 'Użyto kodu odzyskiwania',
    factors_reset: 'Twoje drugie składniki logowania zostały zresetowane',
    upstream_linked: 'Możesz się teraz logować przez {name}',
    upstream_unlinked: 'Nie możesz się już logować przez {name}',
    email_changed: 'To jest teraz adres Twojego konta',
    email_restored: 'Twoje konto odzyskało poprzedni adres',
    account_deletion_asked: 'Twoje konto zostanie usunięte: {name}',
    account_deletion_cancelled: 'Twoje konto nie zostanie usunięte',
    account_deleted: 'Twoje konto zostało usunięte',
    account_suspected: 'Do Twojego konta wielokrotnie wpisano błędne hasło, kolejne próby są spowalniane',
    password_suspected: 'Ktoś zna Twoje hasło i wielokrotnie wpisał błędne kody',
  },
};
