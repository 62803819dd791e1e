/** What a scenario is: how the same work is asked of Postern, of the peer, and, as its ceiling, of a bare Fastify. */
import type { PeerWorld } from './servers/peer.ts';
import type { World } from './world.ts';

/** One request. `{}` in its path, its headers or its body stands for a value: a code, a token. */
export interface Shot {
  method: 'GET' | 'POST';
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

/** An answer that brings the value of the next request: what stands between two texts in its Location or its body. */
export interface Follow {
  in: 'location' | 'body';
  after: string;
  until: string;
  /** With `{}` for the value. */
  next: Shot;
}

/** What is sent over every connection, one request after the other. */
export interface Load {
  shot: Shot;
  /** One for each request; without `follow` each is used once. Absent: the same request over and over. */
  values?: readonly string[];
  /** The first that fits an answer makes the next request. An answer that none fits is an error. */
  follow?: readonly Follow[];
}

/** How much a round sends. */
export interface Amount {
  connections: number;
  seconds: number;
  /** Single-use values that are enough for it. */
  values: number;
}

/** One row of the table. */
export interface Scenario {
  title: string;
  /** Of Fastify: a form in and JSON out, or a GET. */
  ceiling: 'form' | 'get';
  /** Makes what is sent through the real code, anew for each round. */
  postern(world: World, amount: Amount): Promise<Load>;
  /** The same of the peer; absent where it has no such thing. */
  peer?(peer: PeerWorld, amount: Amount): Promise<Load>;
  /** What a sample answer has to hold, so that what is measured is what the title says. @throws when it does not */
  check?(body: string): void;
  /** With one line in the log for every request. */
  logged?: boolean;
  /** How many of these requests are one of what the title names; 1 unless said. */
  steps?: number;
}

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' } as const;

/** A request with its value in place. */
export const filled = (shot: Shot, value: string): Shot => ({
  ...shot,
  path: shot.path.replaceAll('{}', value),
  headers: Object.fromEntries(Object.entries(shot.headers).map(([name, text]) => [name, text.replaceAll('{}', value)])),
  ...(shot.body !== undefined && { body: shot.body.replaceAll('{}', value) }),
});

/** HTTP Basic, as clients send it (RFC 6749 §2.3.1). */
export const basic = ({ client_id, client_secret }: { client_id: string; client_secret: string }): string =>
  `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;

/** A form as a body. */
export const form = (fields: Record<string, string>): string =>
  // The placeholder stays as it is.
  new URLSearchParams(fields).toString().replaceAll('%7B%7D', '{}');
