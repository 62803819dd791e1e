/** What a client authentication method reads, and what it must prove. */
import type { Deps } from '../../deps.ts';
import type { Client } from '../../store/clients.ts';

/** What a request carries that could authenticate a client. */
export interface PresentedCredentials {
  /** The Authorization header, whole. */
  authorization: string | undefined;
  client_id: string | undefined;
  client_secret: string | undefined;
  client_assertion: string | undefined;
  client_assertion_type: string | undefined;
}

/** What a proof is checked with. */
export interface ProofContext {
  deps: Pick<Deps, 'clientKeys' | 'config' | 'db'>;
  now: Date;
}

/** Credentials as one method reads them. */
export interface Proof {
  /** The client they claim to be of. */
  client_id: string;
  /** Could it be guessed? Then failures are counted; a signature cannot, and a name is no secret. */
  guessable: boolean;
  /** Undefined when they prove it; else why not, for the log. Another method than the registered one proves nothing. */
  refute(client: Client, context: ProofContext): string | undefined | Promise<string | undefined>;
}

/** Reads one method's credentials; undefined when the request does not use it. */
export type Method = (presented: PresentedCredentials) => Proof | undefined;
