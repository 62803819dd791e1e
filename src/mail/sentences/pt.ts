/** What mails say in Portuguese. */
import type { MailSentences } from '../sentences.ts';

export const pt: MailSentences = {
  hello: 'Olá, {name},',
  button_hint: 'Se o botão não funcionar, copie este endereço para o seu navegador:',
  code_label: 'Ou digite este código na página que o pede:',
  lifetime: 'O link funciona uma única vez, durante {time}.',
  ignore: 'Se não foi você, não precisa fazer nada: sem o link nada acontece.',
  look: 'Se não foi você, defina já uma nova senha e verifique a sua conta: {url}',
  when: 'Quando: {time}',
  why_account: 'Você recebe este e-mail porque este endereço pertence a uma conta em {product}.',
  why_asked: 'Você recebe este e-mail porque alguém digitou este endereço em {product}.',
  why_invited: 'Você recebe este e-mail porque recebeu um convite para {product}.',
  mails: {
    'reset-password': {
      subject: 'Defina uma nova senha para {product}',
      text: 'Alguém, esperamos que você, pediu uma nova senha para a conta {username}.',
      button: 'Definir uma nova senha',
    },
    'verify-email': {
      subject: 'Confirme o seu endereço para {product}',
      text: 'Este endereço foi indicado para uma nova conta em {product}.',
      button: 'Confirmar o endereço',
    },
    'already-registered': {
      subject: 'Você já tem uma conta em {product}',
      text: 'Alguém, esperamos que você, quis criar uma conta com este endereço. Ele já tem uma: {username}. Nada foi alterado.',
      button: 'Entrar',
    },
    invitation: {
      subject: 'Você recebeu um convite para {product}',
      text: 'Uma conta foi criada para você, {username}. Escolha uma senha e ela será sua.',
      button: 'Aceitar o convite',
    },
    'sign-in': {
      subject: 'Entrar em {product}',
      text: 'Alguém, esperamos que você, quer entrar como {username}.',
      button: 'Entrar',
    },
    'confirm-email': {
      subject: 'Confirme o seu novo endereço para {product}',
      text: 'Este será o endereço da conta {username}.',
      button: 'Confirmar o endereço',
    },
    'address-in-use': {
      subject: 'O seu endereço foi digitado para outra conta em {product}',
      text: 'Alguém quis dar este endereço a outra conta. Ele pertence à sua e nada foi alterado.',
      button: 'Entrar',
    },
    'email-changed': {
      subject: 'O seu endereço em {product} foi alterado',
      text: 'A conta {username} tem agora outro endereço: {name}. Se foi você, não precisa fazer nada. Se não, o link abaixo devolve este endereço à conta e encerra todas as sessões.',
      button: 'Desfazer a alteração',
    },
    notice: {
      subject: '{notice}',
      text: 'Trata-se da conta {username} em {product}.',
      button: 'Ver a conta',
    },
  },
  notices: {
    password_changed: 'A sua senha foi alterada',
    password_removed: 'A sua senha foi removida',
    passkey_added: 'Uma chave de acesso foi adicionada: {name}',
    passkey_removed: 'Uma chave de acesso foi removida: {name}',
    passkey_suspected: 'Uma chave de acesso foi recusada, porque pode ter sido copiada: {name}',
    authenticator_added: 'Um aplicativo autenticador foi configurado',
    authenticator_removed: 'O aplicativo autenticador foi removido',
    recovery_codes_made: 'Novos códigos de recuperação foram criados e os antigos já não funcionam',
    recovery_codes_removed: 'Os códigos de recuperação foram removidos e já não funcionam',
    recovery_code_used: 'Um código de recuperação foi usado',
    factors_reset: 'Os seus segundos fatores foram redefinidos',
    upstream_linked: 'Agora você pode entrar com {name}',
    upstream_unlinked: 'Você já não pode entrar com {name}',
    email_changed: 'Este é agora o endereço da sua conta',
    email_restored: 'A sua conta recuperou o endereço anterior',
    account_deletion_asked: 'A sua conta será excluída em {name}',
    account_deletion_cancelled: 'A sua conta não será excluída',
    account_deleted: 'A sua conta foi excluída',
    account_suspected: 'Foram escritas muitas senhas erradas para a sua conta; as próximas tentativas são atrasadas',
    password_suspected: 'Alguém conhece a sua senha e escreveu repetidamente códigos errados',
  },
};
