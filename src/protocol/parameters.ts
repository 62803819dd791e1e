/** From parameters by name to a typed request: unknown ones are dropped, so that what follows sees only its own. */
import type { z } from 'zod';
import { invalidRequest } from './error.ts';

export type Parameters = Readonly<Record<string, string | string[]>>;

/** One parameter as a string, or undefined. */
export function textOf(parameters: Parameters, name: string): string | undefined {
  const value = parameters[name];
  return typeof value === 'string' ? value : undefined;
}

/** @throws OAuthError invalid_request naming the first parameter that is missing or malformed */
export function parseParameters<T>(schema: z.ZodType<T>, parameters: Parameters): T {
  const result = schema.safeParse(parameters);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const name = String(issue.path[0] ?? 'request');
  const sent = name in parameters;
  throw invalidRequest(sent ? `${name} is malformed: ${issue.message}` : `${name} is missing`, {
    check: 'parameter',
    expected: name,
    received: sent ? issue.message : 'none',
  });
}
