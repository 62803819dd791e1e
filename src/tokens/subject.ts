/**
 * `sub` and `sid` as the clients of a sector see them (OpenID Connect Core §8): the sector of the grant, whatever has become of its
 * client since. Everything of ours keeps the real names.
 */
import type { Deps } from '../deps.ts';
import { PUBLIC_SECTOR } from '../protocol/sector.ts';

type Needs = Pick<Deps, 'keys'>;

/** The `sub` that clients of the sector see. */
export const subjectFor = ({ keys }: Needs, sector: string, sub: string): string =>
  sector === PUBLIC_SECTOR ? sub : keys.pseudonym('sub', sector, sub);

/** The `sid` that clients of the sector see: a `sid` shared by two sectors would link the subjects that differ between them. */
export const sidFor = ({ keys }: Needs, sector: string, sid: string): string =>
  sector === PUBLIC_SECTOR ? sid : keys.pseudonym('sid', sector, sid);
