/**
 * What happened. Two channels: rows in audit_events for what people and operators must be able to ask about later, and
 * one structured log line for every token issued and every refusal, which are counted, too. Rows are written by the flow
 * that does the thing, in its transaction.
 */
import type { Deps } from '../deps.ts';
import type { OAuthError } from '../protocol/error.ts';
import { redact } from '../protocol/redaction.ts';
import { append, type AuditRow } from '../store/audit-log.ts';
import type { Db, Trx } from '../store/postgres/db.ts';
import type { Change } from './change.ts';
import type { ThemeEvent } from './themes.ts';
import type { UpstreamEvent } from './upstream.ts';
import type { PasskeyEvent } from './passkeys.ts';
import type { MailEvent } from './mail.ts';
import type { PeopleEvent } from './people.ts';
import type { DetailsEvent } from './authorization-details.ts';

/** Who asked, as far as the door can tell. */
export interface Requester {
  ip: string;
  /** The address' neighbourhood: what throttles count. */
  network: string;
  request_id: string;
  /** The User-Agent header, of which only the device is kept, where a session begins. */
  user_agent?: string | undefined;
}

/** The events that leave a row. */
export type AuditEvent =
  | PasskeyEvent
  | UpstreamEvent
  | ThemeEvent
  | PeopleEvent
  | DetailsEvent
  | MailEvent
  | {
      event: 'sign_in';
      sub: string | null;
      detail: { amr?: string[]; via: string };
    }
  | { event: 'sign_out'; sub: string; detail: { sid: string; grants_revoked: number } }
  | { event: 'sign_out_everywhere'; sub: string; detail: { sessions_ended: number; grants_revoked: number } }
  | {
      event: 'access_revoked';
      sub: string;
      detail: { sessions_ended: number; grants_revoked: number; consents_withdrawn: number };
    }
  | {
      event: 'consent_withdrawn';
      sub: string;
      client_id: string;
      /** With `scope`, that alone was taken back. */
      detail: { grants_revoked: number; scope?: readonly string[] };
    }
  | {
      event: 'consent' | 'consent_denied';
      sub: string;
      client_id: string;
      detail: { scope: readonly string[]; resource: string; authorization_details_types?: readonly string[] };
    }
  | {
      event: 'device_decided';
      sub: string | null;
      client_id: string;
      detail: { grant_type: string; outcome: string };
    }
  | { event: 'authorization_revoked'; sub: string | null; client_id: string; detail: { gid?: string; jti?: string } }
  | {
      event: 'code_replay' | 'code_repeated' | 'refresh_token_reuse';
      client_id: string;
      detail: { gid: string | null };
    }
  | {
      event:
        'user_created' | 'user_disabled' | 'user_enabled' | 'user_deleted' | 'password_changed' | 'password_deleted';
      sub: string;
    }
  | {
      event: 'user_updated';
      sub: string;
      /** Names before and after; of claims only which changed, since they say what somebody is like. */
      detail: { before: Record<string, unknown>; after: Record<string, unknown>; claims: readonly string[] };
    }
  | { event: 'client_created' | 'client_updated' | 'client_deleted'; client_id: string; detail: Change }
  | { event: 'client_disabled' | 'client_enabled'; client_id: string }
  | { event: 'client_secret_added' | 'client_secret_deleted'; client_id: string; detail: { secret_id: string } }
  | { event: 'key_rotated' | 'key_retired'; detail: { kid: string; alg?: string } & Change }
  | { event: 'key_withdrawn' | 'key_restored' | 'key_erased' | 'key_removed'; detail: { kid: string } }
  | { event: 'registration_token_created' | 'registration_token_deleted'; detail: { token_id: string } & Change }
  | {
      event: 'group_created' | 'group_updated' | 'group_deleted';
      detail: { group_id: string; before?: object; after?: object };
    }
  | { event: 'group_member_added' | 'group_member_removed'; sub: string; detail: { group_id: string } }
  | {
      event: 'role_created' | 'role_updated' | 'role_deleted';
      detail: { role_id: string; before?: object; after?: object };
    }
  | { event: 'role_given' | 'role_taken'; sub: string | null; detail: { role_id: string; group_id?: string } }
  | { event: 'scope_changed' | 'resource_changed'; detail: { name: string } & Change }
  | { event: 'scope_deleted' | 'resource_deleted'; detail: { name: string; grants_changed: number } & Change }
  | { event: 'logout_notice_retried' | 'logout_notice_deleted'; client_id: string; detail: { notice_id: string } };

type NameOf<E> = E extends { event: infer Name; sub: infer Sub } ? ([Sub] extends [null] ? never : Name) : never;
/** The events that can be about a person who is there to be told. */
export type PersonEvent = Exclude<NameOf<AuditEvent>, 'user_deleted' | 'user_erased'>;

/** Who did it: a request from outside, or an operator at the command line. */
export type Actor = Requester | { actor: string } | (Requester & { actor: string });

/** Appends an audit row. */
export const record = (db: Db | Trx, event: AuditEvent, by: Actor, now: Date): Promise<void> =>
  append(db, rowOf(event, by, now));

/** The row of an event, for a statement that writes it along with what it records. */
export const rowOf = (event: AuditEvent, by: Actor, now: Date): AuditRow => ({ at: now, ...event, ...whoOf(by) });

const whoOf = (by: Actor): Partial<Pick<AuditRow, 'actor' | 'ip' | 'request_id'>> => ({
  ...('actor' in by && { actor: by.actor }),
  ...('ip' in by && { ip: by.ip, request_id: by.request_id }),
});

type Needs = Pick<Deps, 'log' | 'metrics'>;

/** The log line of a token response. */
export function logIssued(
  { log, metrics }: Needs,
  by: Requester,
  issued: { grant_type: string; client_id: string; sub: string; jti: string; gid?: string | undefined },
): void {
  metrics.issued(issued.grant_type);
  log.info({ event: 'token_issued', request_id: by.request_id, ...issued }, 'token issued');
}

/** The log line of a refusal: the error as it was answered, and its internal cause. */
export function logRefused({ log, metrics }: Needs, request_id: string, refusal: OAuthError, client_id?: string): void {
  const { error, error_description, cause, failed } = refusal;
  metrics.refused(error, failed.check);
  const why = cause instanceof Error ? cause.message : cause;
  const answered = { error, error_description: redact(error_description), check: failed.check };
  log.info(
    { event: 'refused', request_id, client_id, ...answered, cause: typeof why === 'string' ? redact(why) : undefined },
    'refused',
  );
}

/** The log line of a request that an operator was refused. */
export function logProblem(
  { log, metrics }: Needs,
  request_id: string,
  { error, error_description, failed }: { error: string; error_description: string; failed: { check: string } },
  client_id?: string,
): void {
  const { check } = failed;
  metrics.refused(error, check);
  const answered = { error, error_description: redact(error_description), check };
  log.info({ event: 'refused', request_id, client_id, ...answered }, 'refused');
}
