/**
 * How late a change of what servers keep in memory is noticed, in seconds. They are notified of it at once (`changes.ts`);
 * this is for a notification that is lost, or cannot arrive: what is kept is read again when it is older.
 */
export const NOTICED_WITHIN = {
  /** Clients, scopes and resources. */
  clients: 10,
  /** A client that there was not: one that was just made should not be refused for long. */
  missing: 2,
  keys: 5,
} as const;
