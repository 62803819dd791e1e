/** What a person's authorizations should be at any moment: the rules we decided on, without a database. Times in seconds. */

export const TERMS = {
  AUTHORIZATION_CODE_TTL: 60,
  ACCESS_TOKEN_TTL: 600,
  REFRESH_TOKEN_IDLE_TTL: 3600,
  REFRESH_TOKEN_TTL: 10_000,
  SESSION_TTL: 7200,
  SESSION_IDLE_TTL: 3000,
};

export interface Session {
  expires_at: number;
  seen_at: number;
  ended: boolean;
}

export interface Access {
  token: string;
  family: Family;
  scope: string;
  expires_at: number;
}

export interface Refresh {
  token: string;
  family: Family;
  expires_at: number;
  used_at?: number;
  successor?: Refresh;
}

/** One authorization: its code and all that came of it. */
export interface Family {
  client: number;
  offline: boolean;
  session: Session;
  scope: string;
  expires_at: number;
  ended: boolean;
  code: { code: string; code_verifier: string; expires_at: number; used: boolean };
  access: Access[];
  refresh: Refresh[];
}

export interface World {
  session: Session | undefined;
  disabled: boolean;
  families: Family[];
}

export const isSessionLive = (session: Session | undefined, now: number): session is Session =>
  session !== undefined && !session.ended && now < session.expires_at && now - session.seen_at < TERMS.SESSION_IDLE_TTL;

export const isFamilyLive = (family: Family, now: number): boolean => !family.ended && now < family.expires_at;

export const isAccessLive = ({ family, expires_at }: Access, now: number): boolean =>
  isFamilyLive(family, now) && now < expires_at;

export const isRefreshLive = ({ family, expires_at, used_at }: Refresh, now: number): boolean =>
  isFamilyLive(family, now) && now < expires_at && used_at === undefined;

/** Within the window the preceding token is answered with the same successor, while nobody used that. */
export const isRetry = ({ family, used_at, successor }: Refresh, window: number, now: number): boolean =>
  used_at !== undefined &&
  used_at > now - window &&
  successor !== undefined &&
  isRefreshLive(successor, now) &&
  isFamilyLive(family, now);

/** Ends what hangs off a session; grants with offline_access outlive its sign-out, but nothing else. */
export function endSession(world: World, why: 'sign_out' | 'everything'): void {
  if (world.session) world.session.ended = true;
  for (const family of world.families) {
    const own = family.session === world.session && !family.offline;
    if (own || why === 'everything') family.ended = true;
  }
}
