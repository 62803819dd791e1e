import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { configWith } from '../../src/config.ts';
import { createSecrets } from '../../src/keys/secrets.ts';
import { deliverMails, openMail, unreadableMails } from '../../src/mail/deliver.ts';
import { languages as LANGUAGES } from '../../src/languages/index.ts';
import { languageOf } from '../../src/mail/language.ts';
import { NOTICES } from '../../src/mail/notices.ts';
import { postMail, postNotice, type NewMail } from '../../src/mail/outbox.ts';
import { render } from '../../src/mail/render.ts';
import { sentences } from '../../src/mail/sentences.ts';
import { templates, type TemplateName } from '../../src/mail/templates.ts';
import { createMailer } from '../../src/platform/mailer.ts';
import { random } from '../../src/platform/random.ts';
import { secondsAfter } from '../../src/protocol/numeric-date.ts';
import { transact } from '../../src/store/postgres/db.ts';
import * as mails from '../../src/store/mails.ts';
import * as themes from '../../src/store/themes.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { aUser } from '../support/fixtures.ts';
import { anOperator } from '../support/operator.ts';
import { headersOf, testMailServer, type TestMailServer } from '../support/smtp.ts';

const FROM = { name: 'Example', address: 'id@example.test' };
const LINK = 'https://id.example.test/reset-password/a-token';

let at: TestApp;
let server: TestMailServer;
let refusal: { code: number; message: string } | undefined;
let deps: TestApp['deps'];

beforeAll(async () => {
  at = await testApp();
  server = await testMailServer((address) => (address.startsWith('refused') ? refusal : undefined));
  deps = { ...at.deps, mailer: createMailer(server.url, FROM) };
});
beforeEach(async () => {
  server.received.length = 0;
  await deps.db.deleteFrom('mails').execute();
});
afterAll(async () => {
  await server.close();
  await at.close();
});

const post = (mail: Partial<NewMail> = {}, using: Pick<typeof deps, 'config' | 'secrets' | 'random'> = deps) => {
  const usual = {
    template: 'reset-password',
    to: 'ada@example.test',
    lang: 'en',
    props: { url: LINK, lifetime: 3600 },
  };
  return transact(deps.db, (trx) => postMail(trx, using, { ...usual, ...mail } as NewMail, at.clock.now()));
};
const rows = () => deps.db.selectFrom('mails').selectAll().orderBy('created_at').execute();

test('a mail is sent after the commit, in text and HTML, and what it said is erased', async () => {
  await post({ props: { url: LINK, lifetime: 3600, username: 'ada', person: 'Ada' } });
  const [waiting] = await rows();
  expect(waiting).toMatchObject({ state: 'waiting', attempts: 0, recipient: 'ada@example.test' });
  expect(waiting!.sealed!.includes('a-token')).toBe(false);
  expect(await deliverMails(deps)).toBe(1);
  const [mail] = server.received;
  expect(mail).toMatchObject({ from: 'id@example.test', to: ['ada@example.test'] });
  expect(headersOf(mail!, 'subject')).toEqual(['Set a new password for id.example.test']);
  expect(headersOf(mail!, 'auto-submitted')).toEqual(['auto-generated']);
  expect(headersOf(mail!, 'message-id')).toEqual([`<${waiting!.mail_id}@id.example.test>`]);
  expect(mail!.raw).toContain('Content-Type: text/plain');
  expect(mail!.raw).toContain('Content-Type: text/html');
  expect(mail!.raw.replaceAll('=\r\n', '')).toContain(LINK);
  expect(await rows()).toMatchObject([{ state: 'sent', sealed: null, done_at: at.clock.now() }]);
  expect(await deliverMails(deps)).toBe(0);
});

test('what is rolled back is not sent', async () => {
  const failing = transact(deps.db, async (trx) => {
    const mail: NewMail = { template: 'notice', to: 'ada@example.test', lang: 'en', props: {} };
    await postMail(trx, deps, mail, at.clock.now());
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await deliverMails(deps)).toBe(0);
});

test('several servers at once send each mail once', async () => {
  for (let index = 0; index < 30; index += 1) await post({ to: `ada${index}@example.test` });
  const taken = await Promise.all(Array.from({ length: 4 }, () => deliverMails(deps)));
  expect(taken.reduce((sum, count) => sum + count, 0)).toBe(30);
  expect(new Set(server.received.flatMap(({ to }) => to)).size).toBe(30);
  expect(server.received).toHaveLength(30);
});

test('a mail server that is away is tried again, later each time, and in the end no more; an operator can', async () => {
  const away = { ...deps, mailer: createMailer('smtp://127.0.0.1:9', FROM) };
  await post({ template: 'notice', props: {}, until: secondsAfter(at.clock.now(), 86_400) });
  await post({ template: 'notice', props: {}, until: secondsAfter(at.clock.now(), 86_400) });
  const pauses: number[] = [];
  for (let tries = 1; tries <= 12; tries += 1) {
    await deliverMails(away);
    const found = await rows();
    const first = found.toSorted((a, b) => b.attempts - a.attempts)[0]!;
    if (tries === 12) break;
    pauses.push((first.next_at.getTime() - at.clock.now().getTime()) / 1000);
    at.clock.advance(3600);
    expect(await deliverMails({ ...away, mailer: undefined })).toBe(0);
  }
  expect(pauses.slice(0, 3)).toEqual([20, 40, 80]);
  expect(Math.max(...pauses)).toBe(3600);
  const dead = (await rows()).filter(({ state }) => state === 'dead');
  expect(dead.length).toBeGreaterThan(0);
  const [given] = dead;
  expect(given!.last_failure).toContain('ECONNREFUSED');
  expect(given!.sealed).not.toBeNull();
  const { mail_id } = given!;
  expect((await (await anOperator(at)).send('POST', `/mails/${mail_id}/retry`, {})).statusCode).toBe(204);
  await deliverMails(deps);
  expect((await (await anOperator(at)).send('GET', `/mails/${mail_id}`)).json()).toMatchObject({
    state: 'sent',
    last_failure: null,
  });
});

test('a recipient that the mail server does not know is given up at once, and others are not', async () => {
  await post({ to: 'refused@example.test' });
  refusal = { code: 550, message: 'no such user' };
  await deliverMails(deps);
  expect(await rows()).toMatchObject([
    { state: 'dead', attempts: 1, last_failure: expect.stringContaining('no such user') },
  ]);
  await deps.db.deleteFrom('mails').execute();
  await post({ to: 'refused@example.test' });
  refusal = { code: 451, message: 'later' };
  await deliverMails(deps);
  expect(await rows()).toMatchObject([{ state: 'waiting', attempts: 1 }]);
});

test('a mail whose link has expired is not sent, nobody can send it, and it says nothing any more', async () => {
  await post({ until: secondsAfter(at.clock.now(), 3600) });
  at.clock.advance(3600);
  await deliverMails(deps);
  const [mail] = await rows();
  expect(mail).toMatchObject({ state: 'dead', sealed: null });
  expect(server.received).toEqual([]);
  const answer = await (await anOperator(at)).send('POST', `/mails/${mail!.mail_id}/retry`, {});
  expect([answer.statusCode, answer.json()]).toMatchObject([409, { detail: expect.stringContaining('expired') }]);
});

test('of a key that is lost the mails are given up, the doctor can count them, and the others go out', async () => {
  const lost = createSecrets(['a key that somebody lost, forty characters'], random);
  await post({}, { ...deps, secrets: lost });
  await post({ to: 'bob@example.test' });
  expect(await unreadableMails(deps)).toBe(1);
  await deliverMails(deps);
  const found = await rows();
  expect(found.map(({ state }) => state).toSorted()).toEqual(['dead', 'sent']);
  expect(found.find(({ state }) => state === 'dead')!.last_failure).toContain('SECRET_KEYS');
});

test('neither a name nor an address can write a header, or another recipient', async () => {
  const hostile = 'http://evil.example x\r\nBcc: mallory@example.test\r\n\r\n<script>alert(1)</script>';
  await post({
    template: 'notice',
    props: { notice: 'passkey_added', name: hostile, person: hostile, username: hostile },
  });
  await post({ to: 'ada@example.test,mallory@example.test' });
  await post({ to: 'ada@example.test\r\nBcc: mallory@example.test' });
  await post({ to: '<ada@example.test> mallory@example.test' });
  await deliverMails(deps);
  expect(server.received.map(({ to }) => to)).toEqual([['ada@example.test']]);
  const [mail] = server.received;
  expect(headersOf(mail!, 'bcc')).toEqual([]);
  expect(headersOf(mail!, 'to')).toEqual(['ada@example.test']);
  const [, html = ''] = mail!.raw.split('Content-Type: text/html');
  expect(html).toContain('&lt;script&gt;');
  expect(html).not.toContain('<script>');
  expect(html).not.toContain('Hello');
  expect((await rows()).filter(({ state }) => state === 'dead')).toHaveLength(3);
});

test('where there is no mail none is posted, and what lies there stays', async () => {
  const none = { ...deps, mailer: undefined, config: configWith(deps.config, { mode: 'serve', SMTP_URL: undefined }) };
  expect(await post({}, none)).toBe(false);
  expect(await rows()).toEqual([]);
  await post();
  expect(await deliverMails(none)).toBe(0);
  expect(await rows()).toMatchObject([{ state: 'waiting', attempts: 0 }]);
});

test('somebody who has no address is told nothing; others in their language', async () => {
  const nobody = await aUser(at, { email: undefined, username: 'noaddress' });
  const { sub } = await aUser(at, { claims: { locale: 'de-AT', given_name: 'Ada' } });
  const told = (whom: string) =>
    transact(deps.db, (trx) => postNotice(trx, deps, { sub: whom, notice: 'password_changed' }, at.clock.now()));
  expect(await told(nobody.sub)).toBe(false);
  expect(await told('nobody')).toBe(false);
  expect(await told(sub)).toBe(true);
  const [mail] = await rows();
  expect(mail).toMatchObject({ sub, lang: 'de', template: 'notice' });
  const opened = await openMail(deps, mail!);
  expect(opened).toMatchObject({ letter: { subject: 'Ihr Passwort wurde geändert' } });
});

test('a mail calls the service by the name of its theme, where it has one', async () => {
  const links = { policy_uri: null, tos_uri: null };
  const logo = { logo: null, logo_hash: null, logo_media_type: null };
  const plain = { client_id: null, color: null, color_dark: null, ...links, ...logo };
  const put = (name: string | null) => transact(deps.db, (trx) => themes.put(trx, { ...plain, name }));
  await post();
  const [mail] = await rows();
  const subject = async () => {
    const opened = await openMail(deps, mail!);
    return 'letter' in opened ? [opened.letter.subject, opened.letter.text.includes('at Example & Sons')] : opened;
  };
  await put('Example & Sons');
  const named = await subject();
  await put(null);
  expect([named, await subject()]).toEqual([
    ['Set a new password for Example & Sons', true],
    ['Set a new password for id.example.test', false],
  ]);
});

test('every mail can be written in every language, with nothing left to fill in', async () => {
  const props = {
    url: LINK,
    code: '123456',
    lifetime: 604_800,
    username: 'ada',
    person: 'Ada',
    name: 'Ada’s phone',
    at: '2026-01-31T12:00:00Z',
  };
  for (const lang of LANGUAGES) {
    for (const template of Object.keys(templates) as TemplateName[]) {
      for (const notice of template === 'notice' ? NOTICES : [undefined]) {
        const { subject, text, html } = await render(deps.config, template, lang, { ...props, notice });
        expect(`${subject} ${text} ${html}`).not.toMatch(/undefined|\{\w*\}|\{\{|\}\}/);
        expect(text).toContain(LINK);
        expect(html).toContain('123456');
        expect(html).toContain(`lang="${lang}" dir="${lang === 'ar' ? 'rtl' : 'ltr'}"`);
      }
    }
  }
  const due = { ...props, notice: 'account_deletion_asked', name: '2026-01-31T12:00:00Z' } as const;
  expect((await render(deps.config, 'notice', 'de', due)).subject).toBe('Ihr Konto wird am 31. Januar 2026 gelöscht');
  const placeholders = (text: string) =>
    [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted((a = '', b = '') => (a < b ? -1 : 1));
  for (const lang of LANGUAGES) {
    for (const [name, { subject, text }] of Object.entries(sentences[lang].mails)) {
      const english = sentences.en.mails[name as TemplateName];
      expect([name, lang, placeholders(subject)]).toEqual([name, lang, placeholders(english.subject)]);
      expect([name, lang, placeholders(text)]).toEqual([name, lang, placeholders(english.text)]);
    }
    for (const notice of NOTICES)
      expect([notice, lang, placeholders(sentences[lang].notices[notice])]).toEqual([
        notice,
        lang,
        placeholders(sentences.en.notices[notice]),
      ]);
  }
  expect([languageOf('pt_BR'), languageOf('zh-CN'), languageOf(undefined, 'xx', 'ja'), languageOf(7)]).toEqual([
    'pt',
    'zh-Hans',
    'ja',
    'en',
  ]);
});

test('templates of the operator come first: of a mail in a language, of a mail, for all', async () => {
  const MAIL_TEMPLATES = mkdtempSync(join(tmpdir(), 'postern-templates-'));
  const config = configWith(deps.config, { MAIL_TEMPLATES });
  const write = (name: string, text: string): void => writeFileSync(join(MAIL_TEMPLATES, name), text);
  try {
    write('layout.html', '<p>{{heading}} {{name}}</p>');
    write('notice.txt', 'Subject: From us: {{notice}}\n\nDear {{username}}\n{{#paragraphs}}- {{.}}\n{{/paragraphs}}');
    write('notice.de.txt', 'Hallo {{username}}');
    const props = { notice: 'password_changed', username: '{{url}}', name: '<b>&"' } as const;
    const english = await render(config, 'notice', 'en', props);
    expect(english.subject).toBe('From us: Your password was changed');
    expect(english.text).toMatch(/^Dear \{\{url\}\}\n- This concerns/);
    expect(english.html).toBe('<p>Your password was changed &lt;b&gt;&amp;&quot;</p>');
    expect((await render(config, 'notice', 'de', props)).text).toBe('Hallo {{url}}\n');
    expect((await render(config, 'invitation', 'en', props)).text).toContain('You are invited');
  } finally {
    rmSync(MAIL_TEMPLATES, { recursive: true });
  }
  expect(readFileSync('src/mail/templates/layout.txt', 'utf8')).toContain('{{why}}');
});

test('a mail can be forgotten, and the list is narrowed by state and recipient', async () => {
  await post();
  await post({ to: 'bob@example.test' });
  const answer = await (await anOperator(at)).send('GET', '/mails?recipient=bob%40example.test&state=waiting');
  const listed = answer.json<{ items: Array<Record<string, unknown>> }>();
  expect(listed.items).toHaveLength(1);
  expect(JSON.stringify(listed)).not.toContain('sealed');
  expect(
    (await (await anOperator(at)).send('DELETE', `/mails/${String(listed.items[0]!['mail_id'])}`)).statusCode,
  ).toBe(204);
  expect(await rows()).toHaveLength(1);
  const [event] = await deps.db.selectFrom('audit_events').selectAll().where('event', '=', 'mail_deleted').execute();
  expect(event).toMatchObject({ sub: null, detail: { mail_id: listed.items[0]!['mail_id'] } });
  expect(await mails.outstanding(deps.db)).toMatchObject({ waiting: 1, dead: 0 });
});
