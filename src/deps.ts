/** The dependencies that are passed to the rooms, types only. main/deps.ts builds the real ones, tests their own. */
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { KeyRing } from './keys/index.ts';
import type { Secrets } from './keys/secrets.ts';
import type { RequestUris } from './authorize/request-uri.ts';
import type { Authorities } from './clients/certificates.ts';
import type { Directory } from './clients/directory.ts';
import type { Guesses } from './clients/guesses.ts';
import type { ClientKeys } from './clients/jwks.ts';
import type { Mailer } from './platform/mailer.ts';
import type { Metrics } from './platform/metrics.ts';
import type { Outbound } from './platform/outbound.ts';
import type { Tracing } from './platform/tracing.ts';
import type { ProofKeys } from './tokens/proof-keys.ts';
import type { Verdicts } from './tokens/verdicts.ts';
import type { PasswordHasher } from './users/factors/password.ts';
import type { UpstreamClients } from './users/upstream/client.ts';
import type { Refusals } from './events/refusals.ts';
import type { Db } from './store/postgres/db.ts';
import type { Random } from './protocol/handle.ts';
import type { Probe } from './store/postgres/probe.ts';
import type { TokenSizes } from './tokens/size.ts';

export interface Deps {
  readonly config: Config;
  readonly db: Db;
  /** Whether the database can serve, asked beside everything else. */
  readonly probe: Probe;
  readonly keys: KeyRing;
  readonly secrets: Secrets;
  /** Clients, scopes and resources, cached for seconds. */
  readonly directory: Directory;
  readonly guesses: Guesses;
  /** Those who sign certificates of clients. */
  readonly authorities: Authorities;
  /** The public keys of clients. */
  readonly clientKeys: ClientKeys;
  /** The request objects that clients publish. */
  readonly requestUris: RequestUris;
  /** Providers that people sign in with, as their client. */
  readonly upstreams: UpstreamClients;
  readonly tokenSizes: TokenSizes;
  /** Signatures of tokens that were found to be good. */
  readonly verdicts: Verdicts;
  /** The keys of DPoP proofs. */
  readonly proofKeys: ProofKeys;
  readonly passwords: PasswordHasher;
  /** The time now; a door reads it once per request. */
  readonly clock: () => Date;
  /** Seconds that the database's clock is ahead of ours, where that is not to be believed; undefined when all is well. */
  readonly clockDoubt: () => number | undefined;
  /**
   * The time by which rows are deleted: the earlier of ours and the database's own, asked for now. Rejects while the
   * two are so far apart that one of them is wrong.
   */
  readonly carefulTime: () => Promise<Date>;
  readonly random: Random;
  /** Fetches what others name: guarded, bounded, one error for every failure. */
  readonly fetch: Outbound;
  /** Hands mail to the mail server; undefined where there is none. */
  readonly mailer: Mailer | undefined;
  /** Why requests were refused, for operators. */
  readonly refusals: Refusals;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Undefined unless somebody wants traces. */
  readonly tracing: Tracing | undefined;
}
