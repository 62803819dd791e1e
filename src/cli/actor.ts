/** Who is at the command line: the actor in audit events. */
import { userInfo } from 'node:os';
import type { Actor } from '../events/index.ts';

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's uid without an account.
    return String(process.getuid?.() ?? 'unknown');
  }
}

export const BY: Actor = { actor: `cli:${accountName()}` };
