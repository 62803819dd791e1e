/**
 * Argon2 of other systems: PHC strings, Django's `argon2$argon2id$…`, Keycloak's credential. They are compared as our own are;
 * this says which are taken.
 */
import { isPhc } from '../argon2.ts';
import { credentialOf } from './keycloak.ts';
import { HashProblem, text64, within, type Scheme } from './scheme.ts';

const PARAMETERS = /\$m=(\d+),(?:t=(\d+),p=(\d+)|p=(\d+),t=(\d+))\$/;
const KIB = 2 ** 18;
// A GiB gone through once takes half a second.
const MAX_WORK = 2 ** 21;

export const argon2: Scheme = {
  title: 'Argon2',
  // The hasher knows its own kind.
  form: undefined,
  read(given) {
    const phc = typeof given === 'string' ? fromText(given) : fromKeycloak(given);
    if (phc === undefined) return undefined;
    const [, m, t, p, p_first, t_second] = PARAMETERS.exec(phc) ?? [];
    if (!isPhc(phc)) throw new HashProblem('is not an Argon2 hash in PHC form, with version, m, t, p, salt and hash');
    const memory = within(m, 'memory', 8, KIB);
    const passes = within(t ?? t_second, 'number of passes', 1, 100);
    within(p ?? p_first, 'parallelism', 1, 16);
    if (memory * passes > MAX_WORK) throw new HashProblem(`goes through more memory than m·t of ${MAX_WORK} KiB`);
    return { phc };
  },
  verify: () => false,
};

const fromText = (text: string): string | undefined =>
  /^(?:argon2)?\$argon2/.test(text) ? text.replace(/^argon2(?=\$)/, '') : undefined;

function fromKeycloak(given: Readonly<Record<string, unknown>>): string | undefined {
  const credential = credentialOf(given);
  if (credential?.algorithm !== 'argon2') return undefined;
  const { iterations, parameters, salt, hash } = credential;
  const [[type = 'id'] = [], [version = '1.3'] = []] = [parameters['type'], parameters['version']];
  const [[memory] = [], [parallelism] = []] = [parameters['memory'], parameters['parallelism']];
  const v = version === '1.3' ? 19 : 16;
  return `$argon2${type}$v=${v}$m=${memory},t=${iterations},p=${parallelism}$${text64(salt)}$${text64(hash)}`;
}
