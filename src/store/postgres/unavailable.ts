/** Telling a database that is away (503, and try again) from one that says no, which is a defect of ours (500). */

/** Whatever kept a connection from being made, or from being of use. */
const withoutConnection = new WeakSet<object>();

/** Notes that an error means that there is no connection; returns it. */
export function noConnection<E>(error: E): E {
  if (typeof error === 'object' && error !== null) withoutConnection.add(error);
  return error;
}

/** Did an error keep a connection from being made? */
export const wasMissed = (error: unknown): boolean =>
  error instanceof Error &&
  (withoutConnection.has(error) || (error.cause instanceof Error && withoutConnection.has(error.cause)));

/** By class of SQLSTATE (PostgreSQL, appendix A): what is wrong with the database, whatever it was asked. */
const CLASSES = new Set([
  '08', // connection exceptions; poolers say almost everything with 08P01
  '26', // a prepared statement is not there: a pooler has put another connection beneath ours
  '28', // we are not let in (any more)
  '3D', // there is no such database (yet)
  '40', // rolled back for others' sake: serialization, deadlock, outcome unknown
  '53', // insufficient resources: disk full, too many connections
  '57', // operator intervention: shutting down, cancelled by statement_timeout
  '58', // system errors: I/O
  'XX', // broken within
]);
/** Of classes that are otherwise our own mistakes. */
const CODES = new Set([
  '25006', // read-only: a standby, or a full disk
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '42P05', // a prepared statement is there already: a pooler, as in class 26
  '55P03', // lock_timeout
]);
/** What the socket and what it stands on say (errno); a file's errors have other system calls, or a path. */
const OF_SOCKETS = new Set(['connect', 'getaddrinfo', 'shutdown']);
const NETWORK = /^E(?:CONN|HOST|NET|PIPE$|TIMEDOUT|PROTO|NOTCONN|SHUTDOWN|AI_|NOTFOUND|NOBUFS|ADDRNOTAVAIL)/;
// What pg says without a code.
const MESSAGE =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|not queryable|Cannot use a pool after calling end|driver has already been destroyed/;

/** Is this the database being away, as opposed to a defect of ours? */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (wasMissed(error)) return true;
  const { code, syscall, path } = error as { code?: unknown; syscall?: unknown; path?: unknown };
  if (typeof code === 'string') {
    if (/^[0-9A-Z]{5}$/.test(code) && (CLASSES.has(code.slice(0, 2)) || CODES.has(code))) return true;
    if (path === undefined && (NETWORK.test(code) || OF_SOCKETS.has(String(syscall)))) return true;
  }
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  return MESSAGE.test(error.message);
}

/** Did no answer come at all, not even a timeout of Postgres? */
export const isSilence = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout';
