/** Recovery codes: ten that are shown once, each good once in place of a second factor that is lost. */
import type { Deps } from '../../deps.ts';
import { sha256, type Random } from '../../protocol/handle.ts';
import { record } from '../../events/index.ts';
import { postNotice } from '../../mail/outbox.ts';
import * as store from '../../store/recovery-codes.ts';
import type { Factor } from './factor.ts';

export const RECOVERY_CODES = 10;

/** No 0, 1, I or O: what is typed from paper is not mistaken. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
/** OWASP ASVS 6.5.2: with 112 bits or more a plain hash will do. 24 of 32 letters are 120. */
const LENGTH = 24;
const GROUP = 6;

/** Draws the codes of a person, as they are shown. */
export const drawCodes = (random: Random): string[] =>
  Array.from({ length: RECOVERY_CODES }, () => {
    const letters = [...random(LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
    return letters.match(new RegExp(`.{${GROUP}}`, 'g'))!.join('-');
  });

/** What is kept of a code, in whatever case and with whatever dashes it is typed. */
export function hashOfCode(code: string): Buffer | undefined {
  const letters = code.toUpperCase().replaceAll(/[\s-]/g, '');
  if (letters.length !== LENGTH || [...letters].some((letter) => !ALPHABET.includes(letter))) return undefined;
  return sha256(letters);
}

/** How many somebody has left; undefined when they never had any. */
export const codesLeft = (deps: Pick<Deps, 'db'>, sub: string) => store.count(deps.db, sub);

export const recoveryCode: Factor = {
  // A password that is good once: what RFC 8176 §2 calls otp, and there is no closer word.
  amr: [['otp']],
  first: false,
  second: true,
  enrols: false,
  field: 'recovery-code',
  async prove(deps, { sub, given }) {
    const hash = hashOfCode(given);
    if (!hash) return undefined;
    return {
      amr: ['otp'],
      async claim(trx, by, now) {
        if (!(await store.use(trx, sub, hash, now))) return false;
        const left = (await store.count(trx, sub))?.left ?? 0;
        await record(trx, { event: 'recovery_code_used', sub, detail: { left } }, by, now);
        await postNotice(trx, deps, { sub, notice: 'recovery_code_used' }, now);
        return true;
      },
    };
  },
  remove: async (trx, sub) => (await store.removeAll(trx, sub)) > 0,
  async list({ db }, sub) {
    const codes = await store.count(db, sub);
    return codes ? [{ factor: 'recovery_code', created_at: codes.created_at, used_at: null, left: codes.left }] : [];
  },
};
