/** Who a person, and which session, is towards a client (OpenID Connect Core §8). Everything of ours keeps the real names. */
import type { Deps } from '../deps.ts';
import { sectorOf, type SectorOf } from '../protocol/sector.ts';

type Needs = Pick<Deps, 'keys'>;

/** The `sub` a client is told. */
export const subjectFor = ({ keys }: Needs, client: SectorOf, sub: string): string => {
  const sector = sectorOf(client);
  return sector === undefined ? sub : keys.pseudonym('sub', sector, sub);
};

/** The `sid` a client is told: one that two sectors share would say what their subjects do not. */
export const sidFor = ({ keys }: Needs, client: SectorOf, sid: string): string => {
  const sector = sectorOf(client);
  return sector === undefined ? sid : keys.pseudonym('sid', sector, sid);
};
