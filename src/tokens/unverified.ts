/** What a token claims, unverified: nothing is authorized by it. */
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import { kindOf } from '../protocol/redaction.ts';
import * as accessTokens from '../store/access-tokens.ts';
import { readHandle } from '../protocol/handle.ts';

/** The client a token was issued to, dead or forged as it may be: good for choosing CORS headers and nothing else. */
export async function claimedClient({ db }: Pick<Deps, 'db'>, token: string): Promise<string | undefined> {
  const key = readHandle(token);
  if (key) return (await accessTokens.find(db, key))?.client_id;
  try {
    const { client_id } = decodeJwt(token);
    return typeof client_id === 'string' ? client_id : undefined;
  } catch {
    return undefined;
  }
}

const heading = z.object({ typ: z.unknown(), iss: z.unknown(), exp: z.number().optional() });

/** A token that was refused, by what it says of itself, unproven: for operators, and no part of the token. */
export function describePresented(token: string, now: Date): string {
  const kind = kindOf(token);
  try {
    const { typ, iss, exp } = heading.parse({ ...decodeJwt(token), typ: decodeProtectedHeader(token).typ });
    const age =
      exp === undefined ? 'no exp' : `${exp <= numericDate(now) ? 'expired' : 'not expired'} by its exp, ${exp}`;
    return `${kind}; typ ${String(typ)}, iss ${String(iss)}, ${age}`;
  } catch {
    return kind;
  }
}
