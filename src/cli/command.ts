/** The interface of a command: a row of a table, which index.ts turns into commander's. It answers; it does not print. */
import type { Option } from 'commander';
import type { Deps } from '../deps.ts';
import type { Api } from './api.ts';
import type { Access, Reach } from './remote.ts';

/** What a command works on. */
export interface Opened {
  deps: Deps;
  /** Applies the migrations that are missing; returns their names. `onWait` is told who is in the way. */
  migrate(onWait: (what: string) => void): Promise<string[]>;
  /** For people: where the data is. */
  place: string;
  /** The file with the keys of a server that is given none, whether or not it is there. */
  secretFile: string;
  /** The time as this machine tells it: `deps.clock` agrees with the database. */
  machineTime: () => Date;
}

/** What main hands in. */
export interface Process {
  start(mode: 'dev' | 'serve'): Promise<void>;
  /**
   * `schema: 'any'`: also on a database that lacks migrations. `as: 'owner'`: as who may change it, if that is somebody else.
   * @throws ConfigError, PostgresUnavailable
   */
  open<T>(work: (opened: Opened) => Promise<T>, options?: { schema?: 'any'; as?: 'owner' }): Promise<T>;
  reach: Reach;
}

/** What a command works with: a database, or a server elsewhere that --url names. */
export interface CommandContext extends Process {
  /** Works on the admin API, wherever it is; `deps` only where that is the database. @throws Failure */
  api<T>(work: (api: Api, deps: Deps | undefined) => Promise<T>): Promise<T>;
  /** The server elsewhere. */
  access: Access | undefined;
}

/** What a command has to say. */
export interface Answer {
  json: unknown;
  /** What is left of it with --quiet, one a line. */
  ids: readonly string[];
  text: string;
  /** For people only, beside the answer: on standard error. */
  notes?: readonly string[];
  /** 0 unless said otherwise. */
  exit_code?: number;
}

/** A command that does something. Nothing is answered by those that go on running. */
export interface Leaf<Options extends object = object> {
  summary: string;
  /** Its one argument, in the library's notation: `<client_id>`, or `[client_id]` where it may be left out. */
  argument?: string;
  options?: () => Option[];
  /** Without the program's name. */
  examples?: readonly string[];
  /** More for --help: what the options do not say. */
  explanation?: string;
  /** It needs no database, and says nothing about any server. */
  here?: true;
  run(context: CommandContext, input: { argument: string; options: Options }): Promise<Answer | undefined>;
}

/** Commands about one subject; `own` is what the subject's name does alone. */
export interface Group {
  summary: string;
  own?: Leaf;
  commands: Readonly<Record<string, Leaf>>;
}
