/**
 * Keys of other systems that their hashes need besides (Firebase's signer key): one row each, sealed under SECRET_KEYS, among what
 * must stay the same for ever.
 */
import type { Deps } from '../deps.ts';
import type { Db } from '../store/postgres/db.ts';
import * as salts from '../store/salts.ts';
import type { Secrets } from '../keys/secrets.ts';
import type { ForeignHash } from './factors/foreign/scheme.ts';

const PREFIX = 'firebase:';
const labelOf = (name: string): string => `the signer key ${name} of imported passwords`;

/** Keeps a key, if it is not there. One that no key of ours opens any more is replaced: it is the same by its name. */
export async function keepForeignSecret(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  { name, value }: NonNullable<ForeignHash['secret']>,
): Promise<void> {
  const row = PREFIX + name;
  const present = await salts.find(db, row);
  const salt = { name: row, fingerprint: Buffer.from(name), sealed: secrets.seal(value, labelOf(name)) };
  if (!present) await salts.insert(db, salt);
  else if (!opened(secrets, present)) await salts.replace(db, present, salt);
}

/** Reads a key. Undefined when there is none, or when it was sealed under a key that is lost: the log and `doctor` say so. */
export async function openForeignSecret(
  { db, secrets, log }: Pick<Deps, 'db' | 'secrets' | 'log'>,
  name: string,
): Promise<Buffer | undefined> {
  const present = await salts.find(db, PREFIX + name);
  const value = present && opened(secrets, present);
  if (!value)
    log.error({ signer_key: name }, 'the signer key of an imported password cannot be opened with SECRET_KEYS');
  return value;
}

/** Seals what another of SECRET_KEYS sealed under the first one. What none opens is left as it is. */
export async function resealForeignSecrets(db: Db, secrets: Secrets): Promise<void> {
  for (const present of await salts.named(db, PREFIX)) {
    const value = opened(secrets, present);
    const sealed = value && secrets.reseal(present.sealed, labelOf(present.name.slice(PREFIX.length)));
    if (sealed) await salts.replace(db, present, { ...present, sealed });
  }
}

/** The names of those that SECRET_KEYS does not open. */
export async function lostForeignSecrets(db: Db, secrets: Secrets): Promise<string[]> {
  const rows = await salts.named(db, PREFIX);
  return rows.filter((row) => !opened(secrets, row)).map(({ name }) => name.slice(PREFIX.length));
}

function opened(secrets: Secrets, { name, sealed }: salts.Salt): Buffer | undefined {
  try {
    return secrets.open(sealed, labelOf(name.slice(PREFIX.length)));
  } catch {
    return undefined;
  }
}
