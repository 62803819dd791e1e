/** What `npm start` prints: everything a first visit needs, in at most 20 lines. */
import { styleText } from 'node:util';
import { endpoints, pages } from '../protocol/endpoint.ts';
import { DEMO_M2M, DEMO_PASSWORD } from './seed.ts';

export interface BannerProps {
  issuer: string;
  authorization_url: string;
  /** Where the data is. */
  data: string;
}

export function banner({ issuer, authorization_url, data }: BannerProps): string {
  const label = (text: string): string => styleText('dim', text.padEnd(10));
  const { client_id, client_secret } = DEMO_M2M;
  return [
    '',
    `${styleText('bold', 'Postern')} in development mode`,
    '',
    `${label('issuer')}${issuer}`,
    `${label('sign in')}${styleText('bold', 'ada')} (or bob), password ${styleText('bold', DEMO_PASSWORD)}`,
    `${label('mail')}${issuer}${pages.dev_mail} (every mail that would be sent)`,
    `${label('data')}${data}`,
    '',
    'Open this, sign in, and see the tokens:',
    styleText('cyan', authorization_url),
    '',
    'Or ask for a token as a service:',
    styleText(
      'cyan',
      `curl -s -u ${client_id}:${client_secret} -d grant_type=client_credentials ${issuer}${endpoints.token_endpoint}`,
    ),
    '',
    styleText('dim', 'Stop with Ctrl+C. The demo accounts exist in development mode only.'),
    '',
  ].join('\n');
}
