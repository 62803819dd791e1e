/** The log: structured lines on standard output, without secrets. */
import { pino, type Logger } from 'pino';

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
}

export function createLog({ level, pretty = false, stderr = false, destination, pid }: LogOptions): Logger {
  const options = {
    level,
    base: pid === undefined ? null : { pid },
    redact: { paths: SECRET_NAMES.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: '(hidden)' },
    serializers: { err: serializeError },
  };
  if (destination) return pino(options, destination);
  if (pretty && isInstalled('pino-pretty'))
    return pino({ ...options, transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } });
  return stderr ? pino(options, pino.destination(2)) : pino(options);
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Errors keep their stack here, for the operator; no answer ever carries one. */
function serializeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, cause, stack } = error as { code?: unknown; cause?: unknown; stack?: string };
  const shown: Record<string, unknown> = { type: error.name, message: error.message, stack };
  // Not `code`: that name is an authorization code's, and redacted.
  if (code !== undefined) shown['error_code'] = code;
  if (cause !== undefined) shown['cause'] = serializeError(cause);
  return shown;
}
