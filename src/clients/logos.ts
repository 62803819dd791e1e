/**
 * Clients' logos: fetched beside requests, never on them, by the guarded outbound client, and kept. People's browsers
 * get them from us, so that no application learns who looks at our pages, or changes its face after it was looked at.
 */
import { createHash } from 'node:crypto';
import type { Deps } from '../deps.ts';
import { DAY, secondsAfter } from '../protocol/numeric-date.ts';
import * as logos from '../store/client-logos.ts';
import { readImage, MEDIA_TYPES } from './logo-image.ts';

type Needs = Pick<Deps, 'db' | 'fetch' | 'log' | 'clock'>;

const MAX_BYTES = 65_536;
/** A few bytes can say that they are a picture of a hundred million pixels. */
const MAX_PIXELS_A_SIDE = 2048;
const BATCH = 5;
/** Seconds a process has for its batch before others may take it over: longer than any fetch may last. */
const LEASE = 60;
/** Attempts until a logo is given up. The last comes about two hours after the first. */
const ATTEMPTS = 8;
const REFETCH_AFTER = 7 * DAY;

/** Seconds until the next try: one, two, four, … minutes. */
const backOff = (attempts: number): number => 30 * 2 ** attempts;

/** Fetches what is due, a batch at a time; returns how many were taken. */
export async function fetchLogos(deps: Needs): Promise<number> {
  const now = deps.clock();
  const due = await logos.take(deps.db, BATCH, secondsAfter(now, LEASE), now);
  await Promise.all(due.map((logo) => fetchLogo(deps, logo, now)));
  return due.length;
}

async function fetchLogo(deps: Needs, due: logos.Due, now: Date): Promise<void> {
  const image = await load(deps, due);
  if (typeof image !== 'string') {
    return logos.keep(deps.db, due, image, secondsAfter(now, REFETCH_AFTER), now);
  }
  const { client_id, attempts } = due;
  if (attempts < ATTEMPTS) return logos.postpone(deps.db, due, image, secondsAfter(now, backOff(attempts)));
  deps.log.warn({ client_id, reason: image }, 'the logo of a client could not be fetched, and is given up');
  return logos.drop(deps.db, due, image);
}

/** The image, or why there is none. */
async function load({ fetch }: Needs, { logo_uri, registered_by }: logos.Due): Promise<logos.Image | string> {
  try {
    const { status, media_type, bytes } = await fetch(logo_uri, {
      headers: { accept: MEDIA_TYPES.join(', ') },
      limit: MAX_BYTES,
      trusted: registered_by === 'operator',
    });
    if (status !== 200) return `it was answered with status ${status}`;
    if (!media_type.startsWith('image/')) return 'the answer does not say that it is an image';
    const image = readImage(bytes);
    if (!image) return 'it is no PNG, JPEG, WebP or GIF image';
    if (Math.max(image.width, image.height) > MAX_PIXELS_A_SIDE || Math.min(image.width, image.height) === 0) {
      return `it has to have between 1 and ${MAX_PIXELS_A_SIDE} pixels a side`;
    }
    const hash = createHash('sha256').update(bytes).digest('base64url');
    return { hash, media_type: image.media_type, image: bytes };
  } catch (error) {
    return error instanceof Error ? error.message : 'unknown';
  }
}
