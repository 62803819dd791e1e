/** What every sample page is made with. */
import type { Language } from '../../../src/languages/index.ts';
import type { Frame } from '../../../src/views/layout.ts';
import type { JudgedPassword } from '../../../src/views/new-password.ts';

export const nonce = 'dGVzdC1ub25jZQ';
export const frameIn = (lang: Language): Frame => ({
  nonce,
  issuer: 'https://id.example.test',
  lang,
  choice: { action: 'https://id.example.test/language', return_to: '/login?a=b' },
});
export const frame = frameIn('en');

/** The worst that strangers may put into a name. */
export const hostile = `"><img src=x onerror=alert(1)>'</script><script>alert(2)</script>&amp;\u202Egnp.exe\u0000\t`;

/** A password that was refused. */
export const refused = (refusal: JudgedPassword['refusal']): JudgedPassword => ({
  refusal,
  score: 0,
  warning: null,
  min_length: 8,
});
