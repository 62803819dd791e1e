/** Postgres cannot be had: no binaries, a second owner, or a failed start. The message is one line that says what to do. */
export class PostgresUnavailable extends Error {
  override name = 'PostgresUnavailable';
}

/** The `code` of a system or Postgres error, if it has one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** What an unknown thrown value says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
