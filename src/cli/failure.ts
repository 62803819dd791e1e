/** What went wrong, as an exit code and lines for standard error. There is never a stack trace. */
import { CommanderError } from 'commander';
import { ZodError } from 'zod';
import { ConfigError } from '../config.ts';
import { OAuthError } from '../protocol/error.ts';

const EXIT_CODES = {
  failed: 1,
  conflict: 1,
  unavailable: 1,
  usage: 2,
  not_found: 3,
  not_allowed: 4,
  // sysexits.h: EX_CONFIG.
  configuration: 78,
} as const;

/** A command that cannot be done; what it says is for the person who typed it. */
export class Failure extends Error {
  readonly error: keyof typeof EXIT_CODES;
  readonly problems: readonly string[];
  constructor(error: keyof typeof EXIT_CODES, ...problems: string[]) {
    super(problems.join('\n'));
    this.error = error;
    this.problems = problems;
  }

  get exit_code(): number {
    return EXIT_CODES[this.error];
  }
}

export const usage = (...problems: string[]): Failure => new Failure('usage', ...problems);
export const notFound = (problem: string): Failure => new Failure('not_found', problem);

/** What the admin API refuses with (RFC 9457), whichever way it came. */
export interface Refused {
  code: string;
  detail: string;
  errors: ReadonlyArray<{ pointer: string; detail: string; code: string }>;
  /** Of a server's answer. */
  request_id?: string | undefined;
}

/** By problem code; what is missing is `failed`. */
const REFUSALS: Readonly<Record<string, keyof typeof EXIT_CODES>> = {
  invalid: 'usage',
  'too-large': 'usage',
  unauthorized: 'not_allowed',
  forbidden: 'not_allowed',
  'not-allowed': 'not_allowed',
  'not-found': 'not_found',
  conflict: 'conflict',
  'in-progress': 'conflict',
  'precondition-failed': 'conflict',
  unavailable: 'unavailable',
};

/** A refusal as a failure: a line for each thing that is wrong, the request id in the last one. */
export function refused({ code, detail, errors, request_id }: Refused): Failure {
  const lines = errors.map((error) => {
    // JSON Pointer (RFC 6901), or ? and a parameter.
    const place = error.pointer
      .replace(/^[/?]/, '')
      .split('/')
      .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
      .join('.');
    return oneLine(place === '' ? error.detail : `${place}: ${error.detail}`);
  });
  const problems = lines.length > 0 ? lines : [oneLine(detail)];
  if (request_id !== undefined) problems.push(`${problems.pop()} (request ${request_id})`);
  // It names something that there is not.
  const missing = errors.length > 0 && errors.every((error) => error.code === 'unknown');
  return new Failure(missing ? 'not_found' : (REFUSALS[code] ?? 'failed'), ...problems);
}

/** Anything thrown as a failure. */
export async function failureOf(thrown: unknown): Promise<Failure> {
  if (thrown instanceof Failure) return thrown;
  if (!(thrown instanceof Error)) return new Failure('failed', String(thrown));
  const message = oneLine(thrown.message);
  if (thrown instanceof CommanderError) {
    const hint = /unknown option '-[^-]/.test(message) ? '; -- stands before an argument that begins with -' : '';
    return usage(message.replace(/^error: /, '') + hint);
  }
  if (thrown instanceof ConfigError) return new Failure('configuration', ...thrown.problems);
  if (thrown instanceof ZodError) return usage(...zodProblems(thrown));
  if (thrown instanceof OAuthError) return usage(thrown.error_description);
  // Platform belongs to main, so its error is known by name here.
  if (thrown.name === 'PostgresUnavailable') return new Failure('unavailable', message);
  return (await databaseFailure(thrown)) ?? listenFailure(thrown) ?? new Failure('failed', message || thrown.name);
}

/** One line for each problem: the member, and what is wrong with it. */
export function zodProblems({ issues }: Pick<ZodError, 'issues'>, prefix: readonly string[] = []): string[] {
  return issues.flatMap((issue) => {
    const path = [...prefix, ...issue.path.map(String)];
    if (issue.code !== 'unrecognized_keys') return [`${path.join('.')}: ${oneLine(issue.message)}`];
    return issue.keys.map((key) => `${[...path, key].join('.')}: there is no such member`);
  });
}

/** 28: who are you; 3D: which database; 42501: not yours. */
const REFUSED = /^(?:28...|3D...|42501)$/;

async function databaseFailure(thrown: Error): Promise<Failure | undefined> {
  const { isUnavailable } = await import('../store/postgres/db.ts');
  const { code } = thrown as { code?: unknown };
  const refused = typeof code === 'string' && REFUSED.test(code);
  // File errors share some codes; the driver's have no path.
  if ('path' in thrown || !(refused || isUnavailable(thrown))) return undefined;
  const first = thrown instanceof AggregateError ? (thrown.errors[0] as Error) : thrown;
  return new Failure('unavailable', `the database is not available: ${oneLine(first.message)}`);
}

function listenFailure(thrown: Error): Failure | undefined {
  const { code, port } = thrown as { code?: unknown; port?: unknown };
  if (code !== 'EADDRINUSE') return undefined;
  return new Failure('failed', `port ${String(port)} is in use: stop what uses it, or set PORT`);
}

const oneLine = (text: string): string => text.trim().replaceAll(/\s*\n\s*/g, ' ');
