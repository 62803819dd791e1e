/** Themes: how pages look, for the whole server and for those of a client. Every change leaves an audit event. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { changeOf } from '../events/change.ts';
import { record, type Actor } from '../events/index.ts';
import { COLOR, leastContrast, LEGIBLE, type GROUNDS } from '../protocol/contrast.ts';
import { readableText } from '../protocol/plain-text.ts';
import { webUri } from '../protocol/uri.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as themes from '../store/themes.ts';
import { readImage } from './logo-image.ts';

/** Bytes and pixels a logo may have: it is drawn at 48 by 48. */
const MAX_BYTES = 65_536;
const MAX_PIXELS_A_SIDE = 2048;

const colorOf = (mode: keyof typeof GROUNDS) =>
  z
    .string()
    .regex(COLOR, { message: 'must be a colour such as #1d3157', abort: true })
    .superRefine((color, context) => {
      const found = leastContrast(mode, color);
      if (found >= LEGIBLE) return;
      const message =
        `has a contrast of ${found.toFixed(2)} with the page ${mode === 'color' ? 'by day' : 'by night'}, and needs ${LEGIBLE} ` +
        `(WCAG 2.2 §1.4.3): choose a ${mode === 'color' ? 'darker' : 'lighter'} one`;
      context.addIssue({ code: 'custom', message, input: color });
    })
    .nullable()
    .default(null);

const logo = z
  .string()
  .max(100_000)
  .refine(
    (url) => imageOf(url) !== undefined,
    'must be a data URL of a PNG, JPEG, WebP or GIF of at most 64 KiB, in base64',
  )
  .nullable()
  .default(null);

/** A theme as it is written. What is null is as without a theme. */
export const themeFields = z.strictObject({
  name: readableText(80).nullable().default(null).describe('What the service calls itself on its pages'),
  color: colorOf('color').describe('Of links and main buttons, by day: legible on the page'),
  color_dark: colorOf('color_dark').describe('The same by night'),
  logo: logo.describe('A data URL: the picture is kept here and shown from here'),
  policy_uri: webUri().nullable().default(null).describe('Where the privacy policy is'),
  tos_uri: webUri().nullable().default(null).describe('Where the terms of service are'),
});

/** A theme as it is read and written. */
export type ThemeDocument = z.output<typeof themeFields>;

function imageOf(url: string): Pick<themes.ThemeRow, 'logo' | 'logo_hash' | 'logo_media_type'> | undefined {
  const [, encoded] = /^data:image\/[a-z]+;base64,([A-Za-z0-9+/]+={0,2})$/.exec(url) ?? [];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  const image = bytes.length > MAX_BYTES ? undefined : readImage(bytes);
  if (!image || Math.max(image.width, image.height) > MAX_PIXELS_A_SIDE) return undefined;
  const logo_hash = createHash('sha256').update(bytes).digest('base64url');
  return { logo: bytes, logo_hash, logo_media_type: image.media_type };
}

/** A row as a document. */
export function themeOf({ name, color, color_dark, policy_uri, tos_uri, ...row }: themes.ThemeRow): ThemeDocument {
  const shown = row.logo && `data:${row.logo_media_type};base64,${row.logo.toString('base64')}`;
  return { name, color, color_dark, logo: shown, policy_uri, tos_uri };
}

/** For the audit log: the logo by its name. */
const noted = (row: themes.ThemeRow | undefined): object | undefined => row && { ...themeOf(row), logo: row.logo_hash };

/** Writes the theme of the server (null) or of a client's pages, which has to be there. */
export async function putTheme(
  trx: Trx,
  client_id: string | null,
  { logo: url, ...document }: ThemeDocument,
  by: Actor,
  now: Date,
): Promise<ThemeDocument> {
  const before = await themes.findLocked(trx, client_id);
  const image = url === null ? undefined : imageOf(url);
  const row = { client_id, ...document, ...(image ?? { logo: null, logo_hash: null, logo_media_type: null }) };
  await themes.put(trx, row);
  const event = { event: 'theme_changed', client_id, detail: changeOf(noted(before), noted(row)) } as const;
  await record(trx, event, by, now);
  return themeOf(row);
}

/** Takes a theme away. False when there was none. */
export async function removeTheme(trx: Trx, client_id: string | null, by: Actor, now: Date): Promise<boolean> {
  const before = await themes.findLocked(trx, client_id);
  if (!before) return false;
  await themes.remove(trx, client_id);
  await record(trx, { event: 'theme_deleted', client_id, detail: changeOf(noted(before), undefined) }, by, now);
  return true;
}
