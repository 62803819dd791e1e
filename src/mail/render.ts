/** A mail as it is read: sentences of its language in a template, which an operator may have replaced by a file. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../deps.ts';
import { pages } from '../protocol/endpoint.ts';
import { headerText } from '../protocol/mailbox.ts';
import { escapeHtml, fill, type Values } from './fill.ts';
import { dateIn, durationIn, momentIn } from '../languages/intl.ts';
import { directionOf, type Language } from '../languages/index.ts';
import { sentences } from './sentences.ts';
import { templates, type MailProps, type TemplateName } from './templates.ts';

/** What a mail says. */
export interface Letter {
  subject: string;
  text: string;
  html: string;
  /** The addresses that it holds, the one that matters first. */
  links: string[];
}

type Where = Pick<Deps['config'], 'ISSUER' | 'MAIL_TEMPLATES'>;

/** Where the templates are that come with the program. */
const BUILT_IN = new URL('./templates/', import.meta.url);

/** Renders a mail. @throws when a template of the operator's cannot be read */
export async function render(config: Where, template: TemplateName, lang: Language, props: MailProps): Promise<Letter> {
  const values = valuesOf(config, template, lang, props);
  const [text, html] = await Promise.all([
    templateFor(config, template, lang, 'txt'),
    templateFor(config, template, lang, 'html'),
  ]);
  const filled = fill(text, values).replaceAll(/\n[ \t]+\n/g, '\n\n');
  // A file may say what the subject is, in its first line.
  const [, own, rest] = /^Subject: *([^\n]*)\n+([\s\S]*)$/.exec(filled) ?? [];
  const subject = headerText(own ?? values.subject);
  return {
    subject,
    text: `${(rest ?? filled).replaceAll(/\n{3,}/g, '\n\n').trim()}\n`,
    html: fill(html, { ...values, subject }, escapeHtml),
    links: props.url === undefined ? [] : [props.url],
  };
}

interface Shown extends Values {
  subject: string;
}

/** Everything that a template can name. */
function valuesOf({ ISSUER }: Where, template: TemplateName, lang: Language, props: MailProps): Shown {
  const says = sentences[lang];
  const { why, stranger } = templates[template];
  const { code, url = template === 'notice' ? `${ISSUER}${pages.account}` : undefined, lifetime } = props;
  const product = headerText(props.product ?? '', 80) || new URL(ISSUER).host;
  const person = isName(props.person) ? shown(props.person) : undefined;
  const words: Values = {
    product,
    username: shown(props.username),
    // A day, for a notice that tells of one.
    name: props.notice === 'account_deletion_asked' ? dateIn(lang, props.name ?? '') : shown(props.name),
    url,
    time: lifetime === undefined ? undefined : durationIn(lang, lifetime),
  };
  const notice = props.notice === undefined ? undefined : fillWords(says.notices[props.notice], words);
  const say = (sentence: string): string => fillWords(sentence, { ...words, notice });
  const { subject, text, button } = says.mails[template];
  const after = [
    lifetime !== undefined && url !== undefined && say(says.lifetime),
    stranger === 'ignore' && say(says.ignore),
    stranger === 'look' && say(says.look),
  ];
  return {
    ...words,
    lang,
    dir: directionOf(lang),
    issuer: ISSUER,
    notice,
    code,
    subject: say(subject),
    heading: say(subject),
    paragraphs: [
      ...(person === undefined ? [] : [fillWords(says.hello, { name: person })]),
      say(text),
      ...(props.at === undefined ? [] : [fillWords(says.when, { time: momentIn(lang, props.at) })]),
    ],
    button: say(button),
    button_hint: says.button_hint,
    code_label: says.code_label,
    after: after.filter((sentence) => sentence !== false),
    why: say(says[`why_${why}`]),
  };
}

/** What people chose themselves is one short line: no paragraph that looks like ours. */
const shown = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : headerText(text, 128);

/** Whoever is called like an address would have us write to others where to go. */
const isName = (text: string | undefined): boolean =>
  text !== undefined && text.length <= 60 && !/[:/@<>]|www\.|\.\p{L}{2}/u.test(text);

/** Sentences have single braces. */
const fillWords = (sentence: string, words: Values): string =>
  sentence.replaceAll(/\{(\w+)\}/g, (_place, name: string) => String(words[name] ?? ''));

/** The file that fits best: of this mail in this language, of this mail, the operator's layout, ours. */
async function templateFor(
  { MAIL_TEMPLATES }: Where,
  template: TemplateName,
  lang: Language,
  format: 'txt' | 'html',
): Promise<string> {
  if (MAIL_TEMPLATES !== undefined) {
    for (const name of [`${template}.${lang}`, template, 'layout']) {
      const found = await readIfThere(join(MAIL_TEMPLATES, `${name}.${format}`));
      if (found !== undefined) return found;
    }
  }
  return readFile(new URL(`layout.${format}`, BUILT_IN), 'utf8');
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
