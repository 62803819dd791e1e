/** Keycloak's credential: two documents of JSON, one about the hash and one with it, as they are in a realm's export. */
import { z } from 'zod';
import { bytesOf, HashProblem } from './scheme.ts';

const strings = z.record(z.string(), z.array(z.string())).optional();
const about = z.object({
  algorithm: z.string().max(40),
  hashIterations: z.number(),
  additionalParameters: strings,
});
const secret = z.object({ value: z.string().max(1000), salt: z.string().max(1000), additionalParameters: strings });

interface Credential {
  algorithm: string;
  iterations: number;
  /** Argon2's: memory, parallelism, version, type. */
  parameters: Readonly<Record<string, readonly string[]>>;
  salt: Buffer;
  hash: Buffer;
}

/** What a credential says; undefined when it is something else. @throws HashProblem */
export function credentialOf(given: Readonly<Record<string, unknown>>): Credential | undefined {
  if (!('credentialData' in given) || !('secretData' in given)) return undefined;
  if (given['type'] !== undefined && given['type'] !== 'password') throw new HashProblem('is of no password');
  const [data, hidden] = [about.safeParse(read(given['credentialData'])), secret.safeParse(read(given['secretData']))];
  if (!data.success) throw new HashProblem('has a credentialData without algorithm and hashIterations');
  if (!hidden.success) throw new HashProblem('has a secretData without value and salt');
  return {
    algorithm: data.data.algorithm,
    iterations: data.data.hashIterations,
    parameters: data.data.additionalParameters ?? {},
    salt: bytesOf(hidden.data.salt, 'salt'),
    hash: bytesOf(hidden.data.value, 'value'),
  };
}

/** They are strings of JSON in an export, and objects in some tools. */
function read(document: unknown): unknown {
  if (typeof document !== 'string') return document;
  try {
    return JSON.parse(document);
  } catch {
    throw new HashProblem('holds text that is not JSON');
  }
}
