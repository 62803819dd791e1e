/** Addresses as GitHub's API lists them. */
import { z } from 'zod';

const addresses = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() })).max(1000);

/** The primary address, and whether it is verified. A profile's own says nothing of that, so that without one there is none. */
export function primaryEmailOf(listed: unknown): { email: string | undefined; email_verified: boolean } {
  const primary = addresses.safeParse(listed).data?.find((each) => each.primary);
  return { email: primary?.email, email_verified: primary?.verified ?? false };
}
