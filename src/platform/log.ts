/** The log: structured lines on standard output, without secrets. */
import { pino, type Logger, type LoggerOptions } from 'pino';

/** Names under which a secret could travel in a logged object. Query strings and bodies are never logged whole. */
const SECRET_NAMES = [
  'authorization',
  'cookie',
  'set-cookie',
  'code',
  'token',
  'access_token',
  'refresh_token',
  'id_token',
  'id_token_hint',
  'client_secret',
  'password',
  'code_verifier',
  'form_token',
];

export interface LogOptions {
  level: string;
  /** Readable lines for people instead of JSON, where pino-pretty is installed (it is not in production). */
  pretty?: boolean;
  /** Standard error, for commands: their standard output is their answer. */
  stderr?: boolean;
  destination?: { write(line: string): void };
  /** Every line says which process wrote it: where several of a server write to one place. */
  pid?: number | undefined;
  /** Errors that come by the thousand while something is away: of each class there is one line a second, without its stack. */
  isFlood?: (error: unknown) => boolean;
  /** Milliseconds; for tests. */
  now?: () => number;
}

/** Milliseconds in which there is one line for errors of a class. */
const FLOOD_MS = 1000;
/** More classes than there are. */
const CLASSES = 100;

export function createLog(log: LogOptions): Logger {
  const { level, pretty = false, stderr = false, destination, pid } = log;
  const { isFlood = () => false, now = () => performance.now() } = log;
  const options = {
    level,
    base: pid === undefined ? null : { pid },
    redact: { paths: SECRET_NAMES.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: '(hidden)' },
    serializers: { err: (error: unknown) => serializeError(error, !isFlood(error)) },
    hooks: { logMethod: sparing(isFlood, now) },
  };
  if (destination) return pino(options, destination);
  if (pretty && isInstalled('pino-pretty'))
    return pino({ ...options, transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } });
  return stderr ? pino(options, pino.destination(2)) : pino(options);
}

/** Lets one line of a class through, and says with the next how many were left out. */
function sparing(isFlood: (error: unknown) => boolean, now: () => number): LogMethod {
  const lastOf = new Map<string, { at: number; left_out: number }>();
  return function logMethod(given, method) {
    const [first, ...rest] = given as [unknown, ...unknown[]];
    const error = first instanceof Error ? first : (first as { err?: unknown } | null)?.err;
    if (error === undefined || !isFlood(error)) return method.apply(this, given);
    const { code, message } = error as { code?: unknown; message: string };
    const name = typeof code === 'string' ? code : message;
    const last = lastOf.get(name);
    if (last && now() - last.at < FLOOD_MS) {
      last.left_out += 1;
      return undefined;
    }
    if (lastOf.size >= CLASSES) lastOf.clear();
    lastOf.set(name, { at: now(), left_out: 0 });
    const line = first instanceof Error ? { err: first } : (first as object);
    const left_out = last?.left_out ?? 0;
    return method.apply(this, [{ ...line, ...(left_out > 0 && { left_out }) }, ...rest] as unknown as typeof given);
  };
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Errors keep their stack here, for the operator; no answer ever carries one. */
function serializeError(error: unknown, withStack: boolean): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, cause, stack } = error as { code?: unknown; cause?: unknown; stack?: string };
  const shown: Record<string, unknown> = { type: error.name, message: error.message, ...(withStack && { stack }) };
  // Not `code`: that name is an authorization code's, and redacted.
  if (code !== undefined) shown['error_code'] = code;
  if (cause !== undefined) shown['cause'] = serializeError(cause, withStack);
  return shown;
}
