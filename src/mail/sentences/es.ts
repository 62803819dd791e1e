/** What mails say in Spanish. */
import type { MailSentences } from '../sentences.ts';

export const es: MailSentences = {
  hello: 'Hola, {name}:',
  button_hint: 'Si el botón no funciona, copie esta dirección en su navegador:',
  code_label: 'O escriba este código en la página que lo pide:',
  lifetime: 'El enlace funciona una sola vez y durante {time}.',
  ignore: 'Si no ha sido usted, no tiene que hacer nada: sin el enlace no ocurre nada.',
  look: 'Si no ha sido usted, establezca ahora mismo una contraseña nueva y revise su cuenta: {url}',
  when: 'Cuándo: {time}',
  why_account: 'Recibe este correo porque esta dirección pertenece a una cuenta de {product}.',
  why_asked: 'Recibe este correo porque alguien escribió esta dirección en {product}.',
  why_invited: 'Recibe este correo porque le han invitado a {product}.',
  mails: {
    'reset-password': {
      subject: 'Establezca una contraseña nueva para {product}',
      text: 'Alguien, esperamos que usted, ha pedido una contraseña nueva para la cuenta {username}.',
      button: 'Establecer una contraseña nueva',
    },
    'verify-email': {
      subject: 'Confirme su dirección para {product}',
      text: 'Se ha indicado esta dirección para una cuenta nueva en {product}.',
      button: 'Confirmar la dirección',
    },
    'already-registered': {
      subject: 'Ya tiene una cuenta en {product}',
      text: 'Alguien, esperamos que usted, quiso crear una cuenta con esta dirección. La dirección ya pertenece a {username}. No se ha cambiado nada.',
      button: 'Iniciar sesión',
    },
    invitation: {
      subject: 'Tiene una invitación a {product}',
      text: 'Se ha creado una cuenta para usted, {username}. Elija una contraseña y será suya.',
      button: 'Aceptar la invitación',
    },
    'sign-in': {
      subject: 'Inicie sesión en {product}',
      text: 'Alguien, esperamos que usted, quiere iniciar sesión como {username}.',
      button: 'Iniciar sesión',
    },
    'confirm-email': {
      subject: 'Confirme su nueva dirección para {product}',
      text: 'Esta va a ser la dirección de la cuenta {username}.',
      button: 'Confirmar la dirección',
    },
    'address-in-use': {
      subject: 'Alguien escribió su dirección para otra cuenta de {product}',
      text: 'Alguien quiso dar esta dirección a otra cuenta. Pertenece a la suya y no se ha cambiado nada.',
      button: 'Iniciar sesión',
    },
    'email-changed': {
      subject: 'Se ha cambiado su dirección en {product}',
      text: 'La cuenta {username} tiene ahora otra dirección: {name}. Si ha sido usted, no tiene que hacer nada. Si no, el enlace de abajo devuelve esta dirección a la cuenta y cierra todas sus sesiones.',
      button: 'Deshacer el cambio',
    },
    notice: {
      subject: '{notice}',
      text: 'Se trata de la cuenta {username} de {product}.',
      button: 'Ver la cuenta',
    },
  },
  notices: {
    password_changed: 'Se ha cambiado su contraseña',
    password_removed: 'Se ha quitado su contraseña',
    passkey_added: 'Se ha añadido una llave de acceso: {name}',
    passkey_removed: 'Se ha quitado una llave de acceso: {name}',
    passkey_suspected: 'Se ha rechazado una llave de acceso, porque puede haberse copiado: {name}',
    authenticator_added: 'Se ha configurado una aplicación de autenticación',
    authenticator_removed: 'Se ha quitado la aplicación de autenticación',
    recovery_codes_made: 'Se han creado códigos de recuperación nuevos y los anteriores ya no sirven',
    recovery_codes_removed: 'Se han retirado los códigos de recuperación y ya no sirven',
    recovery_code_used: 'Se ha usado un código de recuperación',
    factors_reset: 'Se han restablecido sus segundos factores',
    upstream_linked: 'Ahora puede iniciar sesión con {name}',
    upstream_unlinked: 'Ya no puede iniciar sesión con {name}',
    email_changed: 'Esta es ahora la dirección de su cuenta',
    email_restored: 'Su cuenta ha recuperado su dirección anterior',
    account_deletion_asked: 'Su cuenta se eliminará el {name}',
    account_deletion_cancelled: 'Su cuenta no se eliminará',
    account_deleted: 'Se ha eliminado su cuenta',
    account_suspected:
      'Se han escrito muchas contraseñas incorrectas para su cuenta; los siguientes intentos se ralentizan',
    password_suspected: 'Alguien conoce su contraseña y ha escrito repetidamente códigos incorrectos',
  },
};
