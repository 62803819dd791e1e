/**
 * Argon2id by one of two packages: `@node-rs/argon2` takes half the time of `argon2`, but has to be there for the platform.
 * Each reads what the other wrote, so that a database may be shared by servers with and without it.
 */

/** Parameters of new hashes (OWASP: at least 19 MiB, 2 passes, 1 lane). Older hashes are replaced at the next sign-in. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const ARGON2ID = 2;
/** The same as `@node-rs/argon2` is told it. */
export const HASHING = { ...PARAMETERS, algorithm: ARGON2ID } as const;

/** What passwords are hashed and compared with, off the event loop. */
export interface Argon2 {
  hash(password: string): Promise<string>;
  /** @param phc a string that `isPhc` */
  verify(phc: string, password: string): Promise<boolean>;
}

/** The packages, the better one first. */
export const ENGINES = {
  async '@node-rs/argon2'(): Promise<Argon2> {
    const { hash, verify } = await import('@node-rs/argon2');
    return { hash: (password) => hash(password, HASHING), verify };
  },
  async argon2(): Promise<Argon2> {
    const { hash, verify } = await import('argon2');
    return { hash: (password) => hash(password, { ...PARAMETERS, type: ARGON2ID }), verify };
  },
};

/** The first of these that can be loaded: the optional one may be left out, or have no binary for this platform. */
export async function loadArgon2(
  engines: ReadonlyArray<() => Promise<Argon2>> = Object.values(ENGINES),
): Promise<Argon2> {
  const [first, ...others] = engines;
  try {
    return await first!();
  } catch (error) {
    if (others.length === 0) throw error;
    return loadArgon2(others);
  }
}

// The packages put the parameters in different orders, and differ in what they make of a string that is none of theirs.
const PHC =
  /^\$argon2(?:id|i|d)\$v=(?:16|19)\$m=[1-9]\d{0,6},(?:t=[1-9]\d{0,2},p=[1-9]\d{0,2}|p=[1-9]\d{0,2},t=[1-9]\d{0,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/** Is this a string that both packages can read? */
export function isPhc(text: string): boolean {
  const [, ...parts] = PHC.exec(text) ?? [];
  return parts.length > 0 && parts.every(isBase64);
}

const isBase64 = (text: string): boolean => Buffer.from(text, 'base64').toString('base64').replace(/=+$/, '') === text;

const { memoryCost: m, timeCost: t, parallelism: p } = PARAMETERS;
const CURRENT = [`m=${m},t=${t},p=${p}`, `m=${m},p=${p},t=${t}`].map((order) => `$argon2id$v=19$${order}$`);

/** Was it made with other parameters than today's? */
export const isOutdated = (phc: string): boolean => !CURRENT.some((prefix) => phc.startsWith(prefix));

/** What is compared with when there is no password: it costs the same, and nothing is known to give it. */
export const DECOY = `${CURRENT[0]!}${'A'.repeat(22)}$${'A'.repeat(43)}`;
