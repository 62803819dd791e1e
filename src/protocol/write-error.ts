/**
 * The refusal of an operator's write: one error for every kind of thing that is stored. What a body's schema
 * refuses is a ZodError instead, and what a client is told an OAuthError.
 */

/**
 * - `conflict`: it meets what is there already;
 * - `invalid`: it cannot be, whatever is there;
 * - `not-allowed`: what it is about does not allow it.
 */
export type WriteErrorReason = 'conflict' | 'invalid' | 'not-allowed';

/** A refused write. The message is a sentence for the operator; the transaction rolls back. */
export class WriteError extends Error {
  override readonly name = 'WriteError';
  readonly reason: WriteErrorReason;
  /** The member of the document that names something that there is not. */
  readonly unknown: string | undefined;
  constructor(reason: WriteErrorReason, message: string, unknown?: string) {
    super(message);
    this.reason = reason;
    this.unknown = unknown;
  }
}

/** Something has this name already. */
export const conflict = (message: string): WriteError => new WriteError('conflict', message);

/** This cannot be. */
export const invalid = (message: string): WriteError => new WriteError('invalid', message);

/** A member names something that there is not. */
export const unknownName = (member: string, message: string): WriteError => new WriteError('invalid', message, member);

/** What it is about stays as it is. */
export const notAllowed = (message: string): WriteError => new WriteError('not-allowed', message);
