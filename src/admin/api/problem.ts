/** Refusals of the admin API (RFC 9457): one catalogue of codes, each with its status, its title and the check that failed. */
import type { ZodError } from 'zod';
import type { Check } from '../../protocol/check.ts';
import { OAuthError, type Explanation } from '../../protocol/error.ts';
import { redact } from '../../protocol/redaction.ts';
import { WriteError } from '../../protocol/write-error.ts';

const catalogue = {
  invalid: [400, 'The request is not valid', 'content'],
  unauthorized: [401, 'An access token is needed', 'access_token'],
  forbidden: [403, 'The access token does not allow this', 'access_token_scope'],
  'not-found': [404, 'There is no such thing', 'present'],
  'method-not-allowed': [405, 'This cannot be done here', 'method'],
  'not-acceptable': [406, 'The answer is JSON only', 'accept'],
  'not-allowed': [409, 'What it is does not allow this', 'conflict'],
  conflict: [409, 'This meets what is there already', 'conflict'],
  'in-progress': [409, 'A request with this Idempotency-Key is still running', 'idempotency_key'],
  'precondition-failed': [412, 'It was changed meanwhile', 'if_match'],
  'too-large': [413, 'The body is too large', 'body_size'],
  'unsupported-media-type': [415, 'The body has the wrong media type', 'media_type'],
  misdirected: [421, 'This is not reached by that host', 'host'],
  'key-reused': [422, 'This Idempotency-Key belongs to another request', 'idempotency_key'],
  'too-many-requests': [429, 'Too many requests', 'rate_limit'],
  'headers-too-large': [431, 'The headers are too large', 'http'],
  'server-error': [500, 'Something went wrong here', 'defect'],
  unavailable: [503, 'The server cannot answer right now', 'database'],
} as const satisfies Record<string, readonly [status: number, title: string, check: Check]>;

export type ProblemCode = keyof typeof catalogue;

/** Every code, for the description of the API. */
export const PROBLEM_CODES = Object.keys(catalogue) as ProblemCode[];

/** One thing that is wrong with a request: where (JSON Pointer, or `?name` for a parameter of the query), and what. */
export interface ProblemError {
  pointer: string;
  detail: string;
  code: string;
}

/** What a refusal may carry besides its sentence. */
export interface ProblemDetail extends Explanation {
  errors?: readonly ProblemError[];
  /** Seconds after which it is worth trying again. */
  retry_after?: number;
}

/** A refusal. It rolls back what the request did. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly errors: readonly ProblemError[];
  /** Seconds after which it is worth trying again. */
  readonly retry_after: number | undefined;
  /** Why, for `postern explain`. Of a body there is only what is wrong where: what was sent, and is quoted there, may be a secret. */
  readonly explanation: Explanation & { check: Check };

  constructor(code: ProblemCode, detail: string, { errors = [], retry_after, ...explanation }: ProblemDetail = {}) {
    super(`${code}: ${detail}`);
    this.code = code;
    this.detail = detail;
    this.errors = errors;
    this.retry_after = retry_after;
    const wrong = errors.map(({ pointer, code: kind }) => `${pointer} ${kind}`).join(', ');
    this.explanation = {
      ...(errors.length > 0 && { expected: redact(errors.map(({ detail: wanted }) => wanted).join(', ')) }),
      ...(errors.length > 0 && { received: wrong }),
      ...explanation,
      check: explanation.check ?? catalogue[code][2],
    };
  }

  get status(): number {
    return catalogue[this.code][0];
  }

  /** As `application/problem+json`. */
  document(request_id: string): Record<string, unknown> {
    const [status, title] = catalogue[this.code];
    return {
      type: `urn:postern:problem:${this.code}`,
      title,
      status,
      detail: this.detail,
      instance: `urn:postern:request:${request_id}`,
      request_id,
      ...(this.errors.length > 0 && { errors: this.errors }),
    };
  }
}

/** The error of a room below (WriteError, ZodError, OAuthError) as a problem; undefined for everything else. */
export function problemOf(thrown: unknown): Problem | undefined {
  if (thrown instanceof Problem) return thrown;
  if (thrown instanceof WriteError) {
    const { reason, message, unknown } = thrown;
    const errors = unknown === undefined ? [] : [{ pointer: `/${unknown}`, detail: message, code: 'unknown' }];
    return new Problem(reason, message, { errors });
  }
  if (thrown instanceof OAuthError) {
    // Too much is being hashed: nothing is wrong with the request.
    const { status, error_description, retry_after = 1, explanation } = thrown;
    if (status === 503) return new Problem('unavailable', error_description, { ...explanation, retry_after });
    return new Problem('invalid', error_description, explanation);
  }
  return isZodError(thrown) ? invalidBody(thrown) : undefined;
}

const isZodError = (thrown: unknown): thrown is ZodError =>
  thrown instanceof Error && 'issues' in thrown && Array.isArray(thrown.issues);

/** The body does not fit its schema. */
export const invalidBody = (error: ZodError): Problem =>
  new Problem('invalid', 'the body is not valid', {
    errors: errorsOf(error, (path) => `/${path.map(escape).join('/')}`),
  });

/** The query does not fit its schema. */
export const invalidQuery = (error: ZodError): Problem =>
  new Problem('invalid', 'the query is not valid', { errors: errorsOf(error, ([name]) => `?${String(name)}`) });

function errorsOf({ issues }: ZodError, pointerTo: (path: PropertyKey[]) => string): ProblemError[] {
  return issues.flatMap((issue): ProblemError[] => {
    if (issue.code !== 'unrecognized_keys') {
      return [{ pointer: pointerTo(issue.path), detail: issue.message, code: issue.code }];
    }
    return issue.keys.map((key) => ({
      pointer: pointerTo([...issue.path, key]),
      detail: 'there is no such member',
      code: issue.code,
    }));
  });
}

/** RFC 6901 §3. */
const escape = (segment: PropertyKey): string => String(segment).replaceAll('~', '~0').replaceAll('/', '~1');

/** A body may say what it is about, so that what was read can be sent back. @throws Problem when that is another thing */
export function requireNamed(member: string, sent: string | undefined, id: string): void {
  if (sent === undefined || sent === id) return;
  throw new Problem('invalid', `${member} is another one than that of the path`, {
    errors: [{ pointer: `/${member}`, detail: 'is another one than that of the path', code: 'other_name' }],
  });
}
