/** The variables about people: their sessions, how they sign in, what they may do by themselves. */
import { contextsProblem } from '../protocol/acr.ts';
import { MAX_GRANT_TTL } from '../protocol/client-metadata.ts';
import { domainNamed } from '../protocol/mailbox.ts';
import { DAY } from '../protocol/numeric-date.ts';
import { z } from 'zod';
import { PROFILE_CLAIMS } from '../protocol/claims.ts';
import { integer, list, seconds } from './kinds.ts';

const isDomain = (domain: string): boolean => domainNamed(domain) !== undefined;

export const people = {
  SESSION_TTL: seconds(60, MAX_GRANT_TTL, 1_209_600),
  SESSION_IDLE_TTL: seconds(60, MAX_GRANT_TTL, DAY),
  PASSWORD_MIN_LENGTH: integer(8, 64, 8),
  PASSWORD_MIN_SCORE: integer(0, 4, 2),
  /** Undefined: on in development, off elsewhere. */
  SELF_REGISTRATION: z.enum(['off', 'on']).optional(),
  SIGN_UP_DOMAINS: list
    .refine((domains) => domains.every(isDomain), 'must be domains between commas: example.com,example.org')
    .transform((domains) => domains.map((domain) => domainNamed(domain)!))
    .default([]),
  EMAIL_SIGN_IN: z.enum(['off', 'on']).default('off'),
  LOGIN_RATE_LIMIT: seconds(0, 1_000_000, 60),
  SECOND_FACTOR: z.enum(['off', 'optional', 'required']).default('optional'),
  PROFILE_CLAIMS: list
    .transform((names) => [...new Set(names)])
    .pipe(z.array(z.enum(PROFILE_CLAIMS)))
    .default(['name', 'given_name', 'family_name', 'nickname', 'locale', 'zoneinfo']),
  ACR_VALUES: list
    .superRefine((entries, context) => {
      const message = contextsProblem(entries);
      if (message !== undefined) context.addIssue({ code: 'custom', message, input: entries });
    })
    .default([]),
};
