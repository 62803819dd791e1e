/** Who may make an account by themselves: what the operator allows. */
import type { Config } from '../config.ts';
import { isMailOn } from '../mail/outbox.ts';
import { domainOf } from '../protocol/mailbox.ts';

type Where = Pick<Config, 'mode' | 'ISSUER' | 'SMTP_URL'>;

/** Can people make accounts? Not where no mail reaches them: their addresses could not be verified. */
export const isRegistrationOn = (config: Where & Pick<Config, 'SELF_REGISTRATION'>): boolean =>
  config.SELF_REGISTRATION === 'on' && isMailOn(config);

/** Can people sign in by a link or a code that they are sent? */
export const isEmailSignInOn = (config: Where & Pick<Config, 'EMAIL_SIGN_IN'>): boolean =>
  config.EMAIL_SIGN_IN === 'on' && isMailOn(config);

/** May somebody with this address make an account? The whole domain counts: that below another is another. */
export function isDomainAllowed({ SIGN_UP_DOMAINS }: Pick<Config, 'SIGN_UP_DOMAINS'>, address: string): boolean {
  if (SIGN_UP_DOMAINS.length === 0) return true;
  const domain = domainOf(address);
  return domain !== undefined && SIGN_UP_DOMAINS.includes(domain);
}
