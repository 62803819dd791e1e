/** What mails say in German. */
import type { MailSentences } from '../sentences.ts';

export const de: MailSentences = {
  hello: 'Hallo {name},',
  button_hint: 'Wenn die Schaltfläche nicht funktioniert, kopieren Sie diese Adresse in Ihren Browser:',
  code_label: 'Oder geben Sie diesen Code auf der Seite ein, die danach fragt:',
  lifetime: 'Der Link gilt einmal und {time} lang.',
  ignore: 'Wenn Sie das nicht waren, müssen Sie nichts tun: Ohne den Link geschieht nichts.',
  look: 'Wenn Sie das nicht waren, setzen Sie sofort ein neues Passwort und sehen Sie nach, was zu Ihrem Konto gehört: {url}',
  when: 'Wann: {time}',
  why_account: 'Sie erhalten diese E-Mail, weil diese Adresse zu einem Konto bei {product} gehört.',
  why_asked: 'Sie erhalten diese E-Mail, weil jemand diese Adresse bei {product} eingegeben hat.',
  why_invited: 'Sie erhalten diese E-Mail, weil Sie zu {product} eingeladen wurden.',
  mails: {
    'reset-password': {
      subject: 'Neues Passwort für {product}',
      text: 'Jemand, hoffentlich Sie, hat ein neues Passwort für das Konto {username} angefordert.',
      button: 'Neues Passwort setzen',
    },
    'verify-email': {
      subject: 'Bestätigen Sie Ihre Adresse für {product}',
      text: 'Diese Adresse wurde für ein neues Konto bei {product} angegeben.',
      button: 'Adresse bestätigen',
    },
    'already-registered': {
      subject: 'Sie haben bereits ein Konto bei {product}',
      text: 'Jemand, hoffentlich Sie, wollte mit dieser Adresse ein Konto anlegen. Sie gehört schon zu einem: {username}. Es wurde nichts geändert.',
      button: 'Anmelden',
    },
    invitation: {
      subject: 'Sie sind zu {product} eingeladen',
      text: 'Für Sie wurde ein Konto angelegt, {username}. Wählen Sie ein Passwort, dann gehört es Ihnen.',
      button: 'Einladung annehmen',
    },
    'sign-in': {
      subject: 'Anmelden bei {product}',
      text: 'Jemand, hoffentlich Sie, möchte sich als {username} anmelden.',
      button: 'Anmelden',
    },
    'confirm-email': {
      subject: 'Bestätigen Sie Ihre neue Adresse für {product}',
      text: 'Dies soll die Adresse des Kontos {username} werden.',
      button: 'Adresse bestätigen',
    },
    'address-in-use': {
      subject: 'Ihre Adresse wurde bei {product} für ein anderes Konto angegeben',
      text: 'Jemand wollte diese Adresse einem anderen Konto geben. Sie gehört zu Ihrem, und es wurde nichts geändert.',
      button: 'Anmelden',
    },
    'email-changed': {
      subject: 'Ihre Adresse bei {product} wurde geändert',
      text: 'Das Konto {username} hat jetzt eine andere Adresse: {name}. Wenn Sie das waren, müssen Sie nichts tun. Wenn nicht, gibt der Link unten dem Konto diese Adresse zurück und meldet es überall ab.',
      button: 'Änderung zurücknehmen',
    },
    notice: {
      subject: '{notice}',
      text: 'Es geht um das Konto {username} bei {product}.',
      button: 'Konto ansehen',
    },
  },
  notices: {
    password_changed: 'Ihr Passwort wurde geändert',
    password_removed: 'Ihr Passwort wurde entfernt',
    passkey_added: 'Ein Passkey wurde hinzugefügt: {name}',
    passkey_removed: 'Ein Passkey wurde entfernt: {name}',
    passkey_suspected: 'Ein Passkey wurde abgelehnt, weil er kopiert worden sein kann: {name}',
    authenticator_added: 'Eine Authenticator-App wurde eingerichtet',
    authenticator_removed: 'Die Authenticator-App wurde entfernt',
    recovery_codes_made: 'Neue Wiederherstellungscodes wurden erzeugt, die alten gelten nicht mehr',
    recovery_codes_removed: 'Die Wiederherstellungscodes wurden entfernt und gelten nicht mehr',
    recovery_code_used: 'Ein Wiederherstellungscode wurde verwendet',
    factors_reset: 'Ihre zweiten Faktoren wurden zurückgesetzt',
    upstream_linked: 'Sie können sich jetzt mit {name} anmelden',
    upstream_unlinked: 'Sie können sich nicht mehr mit {name} anmelden',
    email_changed: 'Dies ist jetzt die Adresse Ihres Kontos',
    email_restored: 'Ihr Konto hat seine frühere Adresse zurück',
    account_deletion_asked: 'Ihr Konto wird am {name} gelöscht',
    account_deletion_cancelled: 'Ihr Konto wird nicht gelöscht',
    account_deleted: 'Ihr Konto wurde gelöscht',
    account_suspected: 'Für Ihr Konto wurden viele falsche Passwörter eingegeben, weitere Versuche werden gebremst',
    password_suspected: 'Jemand kennt Ihr Passwort und hat wiederholt falsche Codes eingegeben',
  },
};
