/** The interface of a client authentication method: what it reads of a request, and how that is verified. */
import type { Deps } from '../../deps.ts';
import type { ClientCertificate } from '../../protocol/certificate.ts';
import type { Explanation } from '../../protocol/error.ts';
import type { Parameters } from '../../protocol/parameters.ts';
import type { Client } from '../../store/clients.ts';

/** What a request carries that could authenticate a client: each method knows where its credentials stand. */
export interface PresentedCredentials {
  /** By name in lower case. */
  headers: Readonly<{ authorization?: string | undefined } & Record<string, string | string[] | undefined>>;
  /** The body. */
  parameters: Parameters;
  /** What the client connected with (RFC 8705); undefined without one. */
  certificate: ClientCertificate | undefined;
}

/** What a proof is checked with. */
export interface ProofContext {
  deps: Pick<Deps, 'authorities' | 'clientKeys' | 'config' | 'db'>;
  now: Date;
}

/** Credentials as one method reads them. */
export interface Proof {
  /** The client they claim to be of. */
  client_id: string;
  /** Undefined when they prove it of a client that uses this method; else why not, for the log. */
  refute(client: Client, context: ProofContext): string | undefined | Promise<string | undefined>;
}

/** A way in which clients prove who they are. */
export interface Method {
  /** Reads its credentials; undefined when the request does not use it. */
  read(presented: PresentedCredentials): Proof | undefined;
  /** What is sent beside the credentials of other methods too: by itself it counts only where nothing else was read. */
  onlyAlone?: true;
  /** Could its credentials be guessed? Then failures are counted; a signature cannot, and a name is no secret. */
  guessable: boolean;
  /** Does the client authenticate like this, as it is registered? */
  isUsedBy(client: Client): boolean;
  /** Why its credentials prove nothing of a client that does not, for the log. */
  unused: string;
  /** What is refused where they are refuted, for the log. */
  refusal: Pick<Explanation, 'check' | 'expected'>;
}
