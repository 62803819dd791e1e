/** Rows that are about a person without naming their account: before there was one, an address was all that was known. */
import { sql, type RawBuilder } from 'kysely';

/** A person by `sub`, and by an address that is theirs. */
export interface Addressee {
  sub: string;
  email: string | null;
}

/** Is a row about this person? What is about another account is not, whatever address it was sent to. */
export const isAbout = ({ sub, email }: Addressee, column: 'recipient' | 'email'): RawBuilder<boolean> =>
  sql<boolean>`(sub = ${sub} or (sub is null and lower(${sql.ref(column)}) = lower(${email}::text)))`;
