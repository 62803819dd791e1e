/** What mails say. Each language has a file of this shape, so that a sentence that is missing is a type error. */
import { ar } from './sentences/ar.ts';
import { de } from './sentences/de.ts';
import { en } from './sentences/en.ts';
import { es } from './sentences/es.ts';
import { fr } from './sentences/fr.ts';
import { ja } from './sentences/ja.ts';
import { pl } from './sentences/pl.ts';
import { pt } from './sentences/pt.ts';
import { zhHans } from './sentences/zh-hans.ts';
import type { Language } from '../languages/index.ts';

export type MailSentences = typeof en;

export const sentences = { en, de, fr, es, pt, pl, ja, 'zh-Hans': zhHans, ar } as const satisfies Record<
  Language,
  MailSentences
>;
