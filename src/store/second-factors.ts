/** Which second factors a person has: read within the statements that read the person. */
import { Condition } from './postgres/prepared.ts';

/**
 * The names of the second factors of the person of a row, as an expression. A factor with a table of its own is a line here. Recovery
 * codes are none of them: they stand in for another.
 */
export const secondFactorsOf = (sub: 'u.sub' | 'users.sub'): Condition =>
  new Condition(`array(select 'totp' from totp_credentials f where f.sub = ${sub}
    union all select 'passkey' where exists (select from passkeys f where f.sub = ${sub}))`);
