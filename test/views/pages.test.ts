import { expect, test } from 'vitest';
import { plain } from '../../src/views/client.ts';
import { consentPage } from '../../src/views/consent.ts';
import { formPostPage } from '../../src/views/form-post.ts';
import { loginPage } from '../../src/views/login.ts';
import { networkIn } from '../../src/views/network.ts';
import { stylesheet } from '../../src/views/style.ts';
import { frame, hostile, notes, pages } from '../support/sample-pages.ts';

const markup = (name: string) => String(pages[name]);
const title = (page: string) => /<title>(.*?)<\/title>/s.exec(page)?.[1] ?? '';
const order = (page: string, ...ids: string[]) => ids.map((id) => page.indexOf(`id="${id}"`));

test.each([
  ['login', ['username', 'password', 'login-submit', 'login-cancel']],
  ['login-again', ['username', 'password', 'login-submit', 'login-cancel']],
  ['consent', ['consent-approve', 'consent-deny']],
  ['select-account', ['account-continue', 'account-another', 'login-cancel']],
  ['select-account-several', ['account-continue', 'account-2', 'account-3', 'account-another', 'login-cancel']],
  ['logout', ['logout-confirm', 'logout-cancel']],
  ['logout-several', ['logout-confirm', 'logout-all', 'logout-cancel']],
  ['signed-out', ['logout-continue']],
  ['signed-out-told', ['logout-told']],
  ['account', ['account-2', 'account-another', 'account-logout']],
  ['login-passkey', ['passkey-signin', 'login-submit', 'login-cancel']],
  ['login-passkey-problem', ['passkey-signin', 'problem']],
  ['passkey-offer', ['passkey-create', 'passkey-later']],
  ['account-passkeys', ['passkey-create', 'passkey-name', 'passkey-rename-k1', 'passkey-remove-k2', 'done']],
  ['account-applications', ['application-revoke-demo-web']],
  ['account-profile', ['name', 'birthdate', 'locale', 'problem', 'birthdate-problem', 'profile-submit']],
  ['account-activity', ['activity-older', 'activity-newest']],
  ['account-data', ['data-download']],
  ['account-delete', ['delete-submit', 'delete-data']],
  ['account-delete-keep', ['delete-keep']],
  ['own-password', ['new-password', 'end-others', 'password-submit', 'login-cancel']],
  ['account-keep', ['delete-keep', 'login-cancel']],
  ['login-upstreams', ['username', 'password', 'login-submit', 'upstream-google', 'upstream-work', 'note']],
  ['connect', ['connect-submit', 'connect-later']],
  ['account-connections', ['disconnect-1', 'disconnect-2', 'connect-submit', 'connect-later', 'upstream-work', 'done']],
  ['account-password', ['current-password', 'new-password', 'end-others', 'password-submit', 'done']],
  ['account-sessions', ['account-logout', 'session-end-s2', 'session-end-s3', 'sessions-end-others', 'done']],
  ['second-factor', ['otp', 'otp-submit', 'use-recovery-code', 'second-factor-cancel']],
  ['second-factor-recovery', ['recovery-code', 'recovery-submit', 'use-authenticator']],
  ['second-factor-setup', ['totp-qr', 'totp-secret', 'otp', 'otp-submit', 'second-factor-later']],
  ['second-factor-confirm', ['second-factor-confirm']],
  ['account-authenticator', ['totp-qr', 'totp-secret', 'otp', 'authenticator-submit']],
  ['account-authenticator-present', ['authenticator-remove', 'done']],
  ['account-recovery-codes', ['recovery-codes-left', 'recovery-codes-renew']],
  ['account-recovery-codes-made', ['recovery-codes', 'recovery-download', 'codes-kept']],
  ['second-factor-codes', ['recovery-codes', 'recovery-download', 'second-factor-continue']],
  ['forgot-password', ['username', 'forgot-submit', 'forgot-back']],
  ['reset-password', ['new-password', 'reset-submit']],
  ['account-email', ['email', 'email-submit', 'done']],
  ['account-email-code', ['otp', 'verify-submit', 'verify-other', 'done']],
  ['email-confirm', ['email-confirm']],
  ['email-confirm-elsewhere', ['email-next']],
  ['email-undo', ['email-undo']],
  ['error', ['error', 'error_description']],
  ['signup', ['email', 'name', 'new-password', 'signup-submit', 'signup-login']],
  ['signup-problem', ['problem', 'new-password-problem', 'login-cancel']],
  ['mail-code', ['otp', 'verify-submit', 'verify-again', 'verify-other']],
  ['invitation', ['new-password', 'invitation-submit', 'passkey-create']],
  ['confirm-address', ['verify-submit']],
  ['confirm-address-elsewhere', ['new-password', 'verify-submit']],
  ['login-problem', ['problem', 'password-problem']],
])('%s has the ids of the contract, each once', (name, ids) => {
  for (const id of ids) expect(markup(name).split(`id="${id}"`), id).toHaveLength(2);
});

test.each([
  ['login', 'Sign in'],
  ['login-client', 'Sign in to Notes'],
  ['login-problem', 'Error: Sign in to Notes'],
  ['login-again', 'Sign in to Notes'],
  ['select-account', 'Sign in to Notes: choose an account'],
  ['consent', 'Allow access for Notes'],
  ['signed-out', 'Signed out'],
  ['second-factor', 'Two-step verification · Notes'],
  ['second-factor-problem', 'Error: Two-step verification · Notes'],
  ['second-factor-setup', 'Set up a second step · Notes'],
  ['second-factor-codes', 'Keep your recovery codes'],
  ['error', 'Error: This request can’t continue'],
  ['form-post', 'Continue to notes.example.test'],
])('%s has the title %j', (name, expected) => {
  expect(title(markup(name))).toBe(expected);
});

test('a form posts its token, and inputs have the names of the contract', () => {
  for (const name of ['login', 'consent', 'select-account', 'logout']) {
    expect(markup(name)).toContain('<input type="hidden" name="form_token" value="form-token" />');
    expect(markup(name)).toContain('method="post"');
  }
  expect(markup('login')).toMatch(/id="username"\s+name="username"/);
  expect(markup('login')).toMatch(/id="password"\s+name="password"/);
});

test('Enter signs in: the first submit button of the sign-in form is the one that does', () => {
  const [submit = 0, cancel = 0] = order(markup('login'), 'login-submit', 'login-cancel');
  expect(submit).toBeLessThan(cancel);
});

test('there is no Cancel where there is nothing to go back to', () => {
  const page = loginPage({ frame, action: '/login', form_token: 't', username: '', cancel: false });
  expect(String(page)).not.toContain('login-cancel');
});

test('the buttons of consent weigh the same, and neither is focused', () => {
  const buttons = [...markup('consent').matchAll(/<button class="(.*?)"/g)].map(([, classes]) => classes);
  expect(buttons).toEqual(['button', 'button']);
  expect(markup('consent')).not.toContain('autofocus');
});

test('consent shows the raw name of an unknown scope, and marks as new only what was not agreed to before', () => {
  expect(markup('consent')).toContain('>urn:notes:archive</code>');
  expect(markup('consent').match(/class="new"/g)).toHaveLength(4);
  expect(markup('consent-first')).not.toContain('class="new"');
});

test('ASVS 7.4.4: every page of the account has a way to sign out', () => {
  const names = Object.keys(pages).filter(
    (name) =>
      name.startsWith('account') &&
      !name.endsWith('-hostile') &&
      /<nav class="menu"|id="account-another"/.test(markup(name)),
  );
  expect(names.length).toBeGreaterThan(15);
  for (const name of names) expect(markup(name).split('id="account-logout" href="'), name).toHaveLength(2);
});

test('ASVS 10.7.2: consent says for how long access lasts, and whether beyond the sign-out', () => {
  expect(markup('consent')).toContain('It keeps access for at most 30 days, also after you sign out');
  const about = { frame, action: '/', form_token: 't', person: { name: 'Ada' }, switch_url: '/', scopes: [] };
  const page = consentPage({ ...about, client: notes, redirect_origin: 'https://a.test', lasts: 600 });
  expect(String(page)).toContain('It keeps access for at most 10 minutes, or until you sign out');
});

test('consent leaves out a group without scopes', () => {
  expect(markup('consent')).toContain('Keep access when you are away');
  expect(markup('consent-first')).not.toContain('Keep access when you are away');
});

test('consent says so when an application registered itself', () => {
  expect(markup('consent-first')).toContain('registered itself');
  expect(markup('consent')).not.toContain('registered itself');
});

test('a logo that was not fetched by us is never shown', () => {
  const client = { ...notes, logo_uri: 'https://notes.example.test/logo.png' };
  const page = loginPage({ frame, action: '/login', form_token: 't', username: '', cancel: true, client });
  expect(String(page)).not.toContain('logo.png');
});

test('a logo of ours stands beside the mark, and says nothing to a screen reader', () => {
  const client = { ...notes, logo_hash: 'h"><script>' };
  const page = String(loginPage({ frame, action: '/login', form_token: 't', username: '', cancel: true, client }));
  const src = 'https://id.example.test/logo/h&quot;&gt;&lt;script&gt;';
  expect(page).toContain(`<img class="logo" src="${src}" alt="" width="48" height="48" />`);
  expect(page).toContain('<svg class="mark"');
});

/** The one page that shows others: in a frame that can move nothing but itself. */
const framed = /<iframe\s+src="https:\/\/notes[^"]*"\s+title="[^"]+"\s+sandbox="allow-scripts allow-same-origin"/;

test('a page goes on by itself only where a client’s address was registered, and at once', () => {
  const refreshed = Object.entries(pages).filter(([, page]) => String(page).includes('http-equiv'));
  expect(refreshed.map(([name]) => name)).toEqual(['signed-out', 'signed-out-native']);
  expect(markup('signed-out')).toContain('content="0;url=https://notes.example.test/"');
  expect(markup('signed-out-native')).toContain('href="com.example.notes:/bye"');
});

test('no page asks another host for anything, and none carries a hostile URL', () => {
  for (const [name, page] of Object.entries(pages)) {
    const said = name === 'signed-out-told' ? String(page).replace(framed, '') : String(page);
    expect(said, name).not.toMatch(
      /<(?:img(?! src="data:image\/)|iframe|object|embed|base)\b|<script[^>]*src=|@import|url\(/i,
    );
    expect(String(page), name).not.toMatch(/(?:href|action|src)="\s*(?:java|vb|data:text)/i);
  }
});

test('every form_post field arrives as it was', () => {
  const page = String(formPostPage({ frame, action: 'https://a.test/cb', fields: { state: `a"b&c`, iss: 'x' } }));
  expect(page).toContain('<input type="hidden" name="state" value="a&quot;b&amp;c" />');
  expect(page).toContain('action="https://a.test/cb"');
});

test('form_post to something that is no web address is refused', () => {
  expect(() => formPostPage({ frame, action: 'javascript:alert(1)', fields: {} })).toThrow(TypeError);
});

test('a name is one line, without control and direction characters, and not long', () => {
  expect(plain(hostile)).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  expect(plain('  a\n\n b ')).toBe('a b');
  expect(plain('👩‍👩‍👧'.repeat(70))).toBe(`${'👩‍👩‍👧'.repeat(64)}…`);
});

test('a name of nothing gives way to the client_id', () => {
  const props = { frame, action: '/', form_token: 't', person: { name: 'Ada' }, switch_url: '/', scopes: [] };
  const client = { client_id: 'c-1', client_name: '\u202E \n' };
  const page = consentPage({ ...props, client, redirect_origin: 'https://a.test', lasts: 600 });
  expect(title(String(page))).toBe('Allow access for c-1');
});

test('the stylesheet stays small', () => {
  expect(String(stylesheet).length).toBeLessThan(8192);
});

test('a session’s network is said in words where people have some, and left out where it could not be read', () => {
  const said = (network: string | null) => String(networkIn('en', network) ?? '');
  expect(['::/56', '127.0.0.0/24'].map(said)).toEqual(['This computer', 'This computer']);
  for (const local of ['10.1.2.0/24', '172.31.0.0/24', '192.168.7.0/24', 'fd00:1:2::/56', 'fe80::/56'])
    expect(said(local), local).toBe('The local network');
  for (const far of ['192.0.2.0/24', '172.32.0.0/24', '2001:db8::/56', 'fec0::/56'])
    expect(said(far)).toBe(`<bdi>${far}</bdi>`);
  expect([null, 'unknown', 'unknown 0a1b'].map(said)).toEqual(['', '', '']);
});
