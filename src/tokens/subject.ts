/**
 * Who a person, and which session, is in a sector (OpenID Connect Core §8): that of the grant, whatever has become of its
 * client since. Everything of ours keeps the real names.
 */
import type { Deps } from '../deps.ts';
import { PUBLIC_SECTOR } from '../protocol/sector.ts';

type Needs = Pick<Deps, 'keys'>;

/** The `sub` that is told there. */
export const subjectFor = ({ keys }: Needs, sector: string, sub: string): string =>
  sector === PUBLIC_SECTOR ? sub : keys.pseudonym('sub', sector, sub);

/** The `sid` that is told there: one that two sectors share would say what their subjects do not. */
export const sidFor = ({ keys }: Needs, sector: string, sid: string): string =>
  sector === PUBLIC_SECTOR ? sid : keys.pseudonym('sid', sector, sid);
