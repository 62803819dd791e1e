/** What a factor is: the shape of each row of the table in index.ts. */
import type { Deps } from '../../deps.ts';
import type { Requester } from '../../events/index.ts';
import type { Db, Trx } from '../../store/postgres/db.ts';

/** Who has to prove it, what they sent, and the browser and page that a challenge was bound to. */
export interface Attempt {
  sub: string;
  given: string;
  bound_to?: readonly string[] | undefined;
  by: Requester;
}

/** What was shown, and what using it up takes: the verdict falls there, in the transaction of what it opens. */
export interface Proven {
  /** RFC 8176. */
  amr: readonly string[];
  /** False when it was used before, or is gone. The account's row is held before. */
  claim(trx: Trx, by: Requester, now: Date): Promise<boolean>;
}

export type ProofNeeds = Pick<Deps, 'config' | 'db' | 'secrets' | 'random'>;

/** A factor that somebody has, as they and operators see it. */
interface Listed {
  factor: string;
  created_at: Date;
  used_at: Date | null;
  /** How many are left, of what is used up. */
  left?: number;
  /** What the person calls it. */
  name?: string;
  /** Can it not be used any more, since its key is not in SECRET_KEYS? */
  lost?: boolean;
}

/** Something by which people prove who they are. */
export interface Factor {
  /** What a proof of it can show, in sets of methods (RFC 8176). */
  amr: ReadonlyArray<readonly string[]>;
  /** Does it sign people in? */
  first: boolean;
  /** Is it asked for after another? */
  second: boolean;
  /** Can somebody who has no second factor, and needs one, set it up on the way? */
  enrols: boolean;
  /** The field of forms, and of POST /login, that carries a proof of it as a second factor. */
  field?: string;
  /** Undefined when the proof is wrong. @throws LostKey when it cannot be judged any more */
  prove?(deps: ProofNeeds, attempt: Attempt, now: Date): Promise<Proven | undefined>;
  /** Takes it away from somebody. False when they had none. */
  remove?(trx: Trx, sub: string): Promise<boolean>;
  /** What somebody has of it. */
  list(deps: Pick<Deps, 'secrets'> & { db: Db }, sub: string): Promise<readonly Listed[]>;
}

/** The secret of a factor was sealed under a key that is not in SECRET_KEYS any more. */
export class LostKey extends Error {}
