/** What a fault is: a deployment, and the fault that is done to it while its clients go on. */
import type { Deployment } from './deployment.ts';
import type { PostgresNode } from './node.ts';

/** What a fault needs besides its own means. */
export interface Scene {
  /** Where Postgres takes commits when the drill begins. */
  node: PostgresNode;
  /** Where the servers connect to. */
  url: string;
  /** Settings of the servers. */
  env?: Record<string, string>;
  /** Carries out the fault, and mends it again. */
  strike(deployment: Deployment, seconds: number): Promise<void>;
  /** Where Postgres takes commits when it is over; the node if left out. */
  survivor?: () => Pick<PostgresNode, 'url'>;
  close(): Promise<void>;
}

export interface Fault {
  /** What happens, as a sentence. */
  sentence: string;
  /** Seconds it lasts unless said otherwise. */
  seconds: number;
  /** What was confirmed is lost by it: the findings show how, and are no failure. */
  loses?: true;
  /** What this machine lacks for it; undefined when it can be carried out. */
  lacks?: () => Promise<string | undefined>;
  open(): Promise<Scene>;
}

export const sleep = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
