/** What mails say in French. */
import type { MailSentences } from '../sentences.ts';

export const fr: MailSentences = {
  hello: 'Bonjour {name},',
  button_hint: 'Si le bouton ne fonctionne pas, copiez cette adresse dans votre navigateur :',
  code_label: 'Ou saisissez ce code sur la page qui le demande :',
  lifetime: 'Le lien ne fonctionne qu’une fois, pendant {time}.',
  ignore: 'Si ce n’était pas vous, vous n’avez rien à faire : sans le lien, il ne se passe rien.',
  look: 'Si ce n’était pas vous, choisissez tout de suite un nouveau mot de passe et vérifiez votre compte : {url}',
  when: 'Quand : {time}',
  why_account: 'Vous recevez ce message parce que cette adresse appartient à un compte sur {product}.',
  why_asked: 'Vous recevez ce message parce que quelqu’un a saisi cette adresse sur {product}.',
  why_invited: 'Vous recevez ce message parce que vous êtes invité sur {product}.',
  mails: {
    'reset-password': {
      subject: 'Choisissez un nouveau mot de passe pour {product}',
      text: 'Quelqu’un, vous espérons-nous, a demandé un nouveau mot de passe pour le compte {username}.',
      button: 'Choisir un nouveau mot de passe',
    },
    'verify-email': {
      subject: 'Confirmez votre adresse pour {product}',
      text: 'Cette adresse a été indiquée pour un nouveau compte sur {product}.',
      button: 'Confirmer l’adresse',
    },
    'already-registered': {
      subject: 'Vous avez déjà un compte sur {product}',
      text: 'Quelqu’un, vous espérons-nous, a voulu créer un compte avec cette adresse. Elle en a déjà un : {username}. Rien n’a été modifié.',
      button: 'Se connecter',
    },
    invitation: {
      subject: 'Vous êtes invité sur {product}',
      text: 'Un compte a été créé pour vous, {username}. Choisissez un mot de passe, et il est à vous.',
      button: 'Accepter l’invitation',
    },
    'sign-in': {
      subject: 'Connexion à {product}',
      text: 'Quelqu’un, vous espérons-nous, souhaite se connecter en tant que {username}.',
      button: 'Se connecter',
    },
    'confirm-email': {
      subject: 'Confirmez votre nouvelle adresse pour {product}',
      text: 'Cette adresse doit devenir celle du compte {username}.',
      button: 'Confirmer l’adresse',
    },
    'address-in-use': {
      subject: 'Votre adresse a été saisie pour un autre compte sur {product}',
      text: 'Quelqu’un a voulu donner cette adresse à un autre compte. Elle appartient au vôtre, et rien n’a été modifié.',
      button: 'Se connecter',
    },
    'email-changed': {
      subject: 'Votre adresse sur {product} a été modifiée',
      text: 'Le compte {username} a maintenant une autre adresse : {name}. Si c’était vous, vous n’avez rien à faire. Sinon, le lien ci-dessous rend cette adresse au compte et le déconnecte partout.',
      button: 'Annuler la modification',
    },
    notice: {
      subject: '{notice}',
      text: 'Cela concerne le compte {username} sur {product}.',
      button: 'Voir le compte',
    },
  },
  notices: {
    password_changed: 'Votre mot de passe a été modifié',
    password_removed: 'Votre mot de passe a été supprimé',
    passkey_added: 'Une clé d’accès a été ajoutée : {name}',
    passkey_removed: 'Une clé d’accès a été supprimée : {name}',
    passkey_suspected: 'Une clé d’accès a été refusée, car elle a peut-être été copiée : {name}',
    authenticator_added: 'Une application d’authentification a été configurée',
    authenticator_removed: 'L’application d’authentification a été supprimée',
    recovery_codes_made: 'De nouveaux codes de récupération ont été créés, les anciens ne fonctionnent plus',
    recovery_codes_removed: 'Les codes de récupération ont été supprimés et ne fonctionnent plus',
    recovery_code_used: 'Un code de récupération a été utilisé',
    factors_reset: 'Vos seconds facteurs ont été réinitialisés',
    upstream_linked: 'Vous pouvez maintenant vous connecter avec {name}',
    upstream_unlinked: 'Vous ne pouvez plus vous connecter avec {name}',
    email_changed: 'Cette adresse est maintenant celle de votre compte',
    email_restored: 'Votre compte a retrouvé son ancienne adresse',
    account_deletion_asked: 'Votre compte sera supprimé le {name}',
    account_deletion_cancelled: 'Votre compte ne sera pas supprimé',
    account_deleted: 'Votre compte a été supprimé',
    account_suspected:
      'Beaucoup de mots de passe erronés ont été saisis pour votre compte, les tentatives suivantes sont ralenties',
    password_suspected: 'Quelqu’un connaît votre mot de passe et a saisi plusieurs fois de suite des codes erronés',
  },
};
