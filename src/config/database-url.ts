/** DATABASE_URL: a URL, in which several hosts may stand where one does (as libpq has it; URL itself does not). */

/** A parsed DATABASE_URL: one URL for each host, otherwise the same. */
export interface DatabaseAddress {
  urls: readonly [string, ...string[]];
  /** What a host has to be (libpq's target_session_attrs); undefined takes any. */
  requires: 'read-write' | 'primary' | undefined;
  user: string;
  password: string | undefined;
  /** For people: hosts and database, without who. */
  place: string;
}

const PARTS =
  /^(?<scheme>postgres(?:ql)?:\/\/)(?:(?<who>[^@/?#]*)@)?(?<hosts>[^@/?#]*)(?<path>\/[^@?#]*)?(?<query>\?[^#]*)?$/;
const TARGETS = ['any', 'read-write', 'primary'] as const;
const TARGET = 'target_session_attrs';

const partsOf = (url: string) => PARTS.exec(url)?.groups;

/** The problem with a URL, in a sentence that quotes nothing of it, since it may hold a password. */
export function databaseUrlProblem(url: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(url)) return 'must be a postgres:// URL';
  const parts = partsOf(url);
  // A name or password that is cut short by a character of its own is nobody's business.
  const isWhole = parts !== undefined && (parts['who'] !== undefined || !(parts['query'] ?? '').includes('@'));
  if (!isWhole || !addressOf(url).urls.every((one) => URL.canParse(one)))
    return 'must be a URL: percent-encode what is special in its password, such as @ (%40), # (%23) and / (%2F)';
  const target = targetOf(parts['query']);
  if (target !== undefined && !(TARGETS as readonly string[]).includes(target))
    return `must have ${TARGETS.join(', ')} as its ${TARGET}, if any`;
  return undefined;
}

/** Of a URL without a problem. Of several hosts one is used that can be written to, unless it says otherwise. */
export function addressOf(url: string): DatabaseAddress {
  const { scheme = '', who, hosts = '', path = '', query = '' } = partsOf(url) ?? {};
  const names = hosts.split(',');
  const rest = query
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !pair.startsWith(`${TARGET}=`))
    .join('&');
  const start = `${scheme}${who === undefined ? '' : `${who}@`}`;
  const urls = names.map((name) => `${start}${name}${path}${rest === '' ? '' : `?${rest}`}`);
  const target = targetOf(query) ?? (names.length > 1 ? 'read-write' : 'any');
  const [, user = '', password] = /^([^:]*)(?::(.*))?$/.exec(who ?? '') ?? [];
  return {
    urls: urls as [string, ...string[]],
    requires: target === 'read-write' || target === 'primary' ? target : undefined,
    user: decoded(user),
    password: password === undefined ? undefined : decoded(password),
    place: `${hosts}${path}`,
  };
}

const targetOf = (query = ''): string | undefined => new URLSearchParams(query).get(TARGET) ?? undefined;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
