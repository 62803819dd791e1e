/** Web Authentication level 3, as values: what browsers are asked for, and what they send back (§5.1.8, §5.4, §5.5). */
import { z } from 'zod';

/** Longest answer of a browser that is read, in characters: attestations are asked for nowhere. */
const MAX_ANSWER = 16_384;

/** COSE algorithms, the preferred first: EdDSA, ES256, RS256. */
export const ALGORITHMS = [-8, -7, -257] as const;

/** Most bytes of a credential id (§5.8.3). */
const MAX_ID = 1023;
const base64url = (most: number): z.ZodString =>
  z
    .string()
    .max(Math.ceil((most * 4) / 3))
    .regex(/^[A-Za-z0-9_-]+$/);
const id = base64url(MAX_ID);
const bytes = base64url(MAX_ANSWER);

const assertion = z.object({
  id,
  rawId: id,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: base64url(64).nullish(),
  }),
});
const attestation = z.object({
  id,
  rawId: id,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: z
      .array(z.string().regex(/^[a-z-]{1,32}$/))
      .max(16)
      .nullish(),
  }),
});
const clientData = z.object({
  type: z.string(),
  challenge: z.string().max(1024),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
});

/** What a browser sends of a passkey that was used (AuthenticationResponseJSON). */
export type Assertion = z.output<typeof assertion>;
/** What a browser sends of a passkey that was made (RegistrationResponseJSON). */
export type Attestation = z.output<typeof attestation>;
/** What the browser itself says of where and for what a passkey was used (§5.8.1). */
export type ClientData = z.output<typeof clientData>;

const reader =
  <Schema extends z.ZodType>(schema: Schema) =>
  (text: string | undefined): z.output<Schema> | undefined => {
    if (text === undefined || text.length > MAX_ANSWER) return undefined;
    const parsed = schema.safeParse(parseJson(text));
    return parsed.success ? parsed.data : undefined;
  };

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads what a browser sent of a used passkey; undefined when it is nothing of the kind. */
export const readAssertion = reader(assertion);
/** Reads what a browser sent of a new passkey; undefined when it is nothing of the kind. */
export const readAttestation = reader(attestation);
/** Reads the client data of either; undefined when it cannot be read. */
export const readClientData = (clientDataJSON: string): ClientData | undefined =>
  reader(clientData)(Buffer.from(clientDataJSON, 'base64url').toString());

/** Who the relying party is: the issuer's host, and its origin to the letter (§5.1.4.1). */
export function relyingPartyOf(issuer: string): { rp_id: string; origin: string } {
  const { hostname, origin } = new URL(issuer);
  return { rp_id: hostname, origin };
}

/** A passkey as a browser is told of it. */
export interface Descriptor {
  credential_id: Buffer;
  transports: readonly string[];
}

const descriptor = ({ credential_id, transports }: Descriptor) => ({
  type: 'public-key' as const,
  id: credential_id.toString('base64url'),
  ...(transports.length > 0 && { transports: [...transports] }),
});

/** What is asked of a browser for a sign-in (PublicKeyCredentialRequestOptionsJSON): of these, or of whichever it has. */
export const requestOptions = (
  issuer: string,
  challenge: string,
  userVerification: 'required' | 'preferred',
  allowed: readonly Descriptor[] = [],
) => ({
  challenge,
  rpId: relyingPartyOf(issuer).rp_id,
  allowCredentials: allowed.map(descriptor),
  userVerification,
  timeout: 300_000,
});

/**
 * What is asked of a browser for a new passkey (PublicKeyCredentialCreationOptionsJSON): one that it finds by itself, and that
 * makes sure who uses it, so that it is enough alone. No attestation: which make people use is theirs to choose.
 */
export const creationOptions = (
  issuer: string,
  challenge: string,
  user: { handle: Buffer; name: string; display_name: string },
  present: readonly Descriptor[],
) => {
  const { rp_id } = relyingPartyOf(issuer);
  return {
    challenge,
    rp: { id: rp_id, name: rp_id },
    user: { id: user.handle.toString('base64url'), name: user.name, displayName: user.display_name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
    excludeCredentials: present.map(descriptor),
    authenticatorSelection: {
      residentKey: 'required' as const,
      requireResidentKey: true,
      userVerification: 'required' as const,
    },
    attestation: 'none' as const,
    timeout: 300_000,
  };
};

/** How a passkey's key is held (RFC 8176 §2): one that is synchronised leaves the hardware it was made in. */
export const keyMethod = ({ backup_eligible }: { backup_eligible: boolean }): 'hwk' | 'swk' =>
  backup_eligible ? 'swk' : 'hwk';
