/** Proofs of possession (RFC 9449): that whoever sends a request holds a key, shown by a signature for this request alone. */
import { errors, jwtVerify } from 'jose';
import type { Deps } from '../deps.ts';
import type { ClientCertificate } from '../protocol/certificate.ts';
import { checkProof, DPOP_ALGS, MAX_PROOF, PROOF_KEPT, type ProofClaims } from '../protocol/dpop.ts';
import { invalidDpopProof, useDpopNonce } from '../protocol/error.ts';
import { joseProblem } from '../protocol/jwt-assertion.ts';
import { numericDate, secondsAfter } from '../protocol/numeric-date.ts';
import { kindOf } from '../protocol/redaction.ts';
import * as replays from '../store/replays.ts';
import { isCurrentNonce } from './dpop-nonce.ts';
import type { ProofKey } from './proof-keys.ts';

/** A request, as far as it proves what its sender holds. */
export interface ProvenRequest {
  /** The DPoP header; undefined without one. */
  dpop: string | undefined;
  method: string;
  /** Where it came in, as its sender knows it. */
  url: string;
  /** What its sender connected with (RFC 8705); undefined without one. */
  certificate: ClientCertificate | undefined;
}

/** As far as a proof is about it. */
type Proof = Pick<ProvenRequest, 'method' | 'url'> & { dpop: string };

type Needs = Pick<Deps, 'config' | 'db' | 'proofKeys' | 'secrets'>;

/** What a proof has to have besides being one. */
interface Wanted {
  /** The token that comes with it. */
  access_token?: string;
  /** Must it hold a nonce of ours (§8)? */
  nonce: boolean;
}

/**
 * The thumbprint of the key that the sender of a request holds. Each proof counts once, in all processes together.
 * @throws OAuthError invalid_dpop_proof, use_dpop_nonce
 */
export async function provenKey(deps: Needs, request: Proof, wanted: Wanted, now: Date): Promise<string> {
  const { dpop: proof, method, url } = request;
  const read = await readProof(deps, request, wanted, now);
  if (typeof read === 'string') {
    const expected = `a proof for ${method} ${url}, signed with the key in its header and made now`;
    const received = `${kindOf(proof)}: ${read}`;
    throw invalidDpopProof('the DPoP proof is not valid for this request', { check: 'dpop_proof', expected, received });
  }
  if (wanted.nonce && !isCurrentNonce(deps, read.claims.nonce, now)) {
    const received = read.claims.nonce === undefined ? 'none' : 'one that is too old, or not ours';
    const detail = { check: 'dpop_nonce', expected: 'the nonce of our DPoP-Nonce header', received } as const;
    throw useDpopNonce('send the nonce of the DPoP-Nonce header in the proof', detail);
  }
  await claimProof(deps, read.key, read.claims);
  return read.key.jkt;
}

/** Its key and what that signed, where it is for this request; else why it is no proof of anything. */
async function readProof(
  { proofKeys }: Needs,
  { dpop: proof, method, url }: Proof,
  { access_token }: Wanted,
  now: Date,
): Promise<{ key: ProofKey; claims: ProofClaims } | string> {
  if (proof.length > MAX_PROOF) return `it has more than ${MAX_PROOF} characters`;
  // Of two headers Node makes one, and no part of a JWS has a comma.
  if (proof.includes(',')) return 'there are two';
  let key: ProofKey | string | undefined;
  try {
    const { payload } = await jwtVerify(
      proof,
      async () => {
        key = await proofKeys.keyOf(proof);
        if (typeof key === 'string') throw new errors.JWSInvalid(key);
        return key.key;
      },
      // Times are looked at with our own leeway.
      { algorithms: [...DPOP_ALGS], clockTolerance: Number.MAX_SAFE_INTEGER },
    );
    const claims = checkProof(payload, { method, url, access_token, now: numericDate(now) });
    return typeof claims === 'string' ? claims : { key: key as ProofKey, claims };
  } catch (error) {
    return joseProblem(error);
  }
}

/** Last, so that only a proof that would have counted is used up (§11.1). @throws OAuthError invalid_dpop_proof */
async function claimProof({ db }: Needs, { jkt }: ProofKey, { jti, iat }: ProofClaims): Promise<void> {
  const until = secondsAfter(new Date(Math.floor(iat) * 1000), PROOF_KEPT + 1);
  if (await replays.claim(db, `dpop ${jkt} ${jti}`, until)) return;
  const detail = {
    check: 'dpop_replay',
    expected: 'a jti that this key did not use before',
    received: 'one that it did',
  } as const;
  throw invalidDpopProof('the DPoP proof was used before', detail);
}
