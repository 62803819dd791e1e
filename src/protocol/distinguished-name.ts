/** Distinguished names as text (RFC 4514), and when two of them are one. */

/** An attribute: its type as an OID, and what is compared. */
type Attribute = readonly [type: string, value: string];
/** From the root down; each step is a set of attributes. */
export type DistinguishedName = ReadonlyArray<readonly Attribute[]>;

/** RFC 4514 §3, and what OpenSSL and others write besides. */
const TYPES: Readonly<Record<string, string>> = {
  CN: '2.5.4.3',
  SN: '2.5.4.4',
  SERIALNUMBER: '2.5.4.5',
  C: '2.5.4.6',
  L: '2.5.4.7',
  ST: '2.5.4.8',
  STREET: '2.5.4.9',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  TITLE: '2.5.4.12',
  GN: '2.5.4.42',
  GIVENNAME: '2.5.4.42',
  ORGANIZATIONIDENTIFIER: '2.5.4.97',
  UID: '0.9.2342.19200300.100.1.1',
  DC: '0.9.2342.19200300.100.1.25',
  EMAILADDRESS: '1.2.840.113549.1.9.1',
  E: '1.2.840.113549.1.9.1',
};

const SPECIAL = String.raw`\\(?:[0-9A-Fa-f]{2}|[\\"+,;<>#= ])`;
const ATTRIBUTE = new RegExp(
  String.raw`\s*([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+)\s*=\s*((?:${SPECIAL}|[^\\"+,;<>])*)([,+]|$)`,
  'y',
);

/** A name as RFC 4514 writes it; undefined where it does not. Values in hexadecimal (`#04…`) are not understood. */
export function readDistinguishedName(text: string): DistinguishedName | undefined {
  const name: Attribute[][] = [];
  let joined = false;
  ATTRIBUTE.lastIndex = 0;
  for (let end = 0; end < text.length || joined; end = ATTRIBUTE.lastIndex) {
    const [all, type = '', value = '', after] = ATTRIBUTE.exec(text) ?? [];
    const oid = /^\d/.test(type) ? type : TYPES[type.toUpperCase()];
    const read = oid === undefined || value.startsWith('#') ? undefined : unescaped(value);
    if (all === undefined || oid === undefined || read === undefined || read.trim() === '') return undefined;
    const attribute = [oid, read] as const;
    if (joined) name.at(-1)?.push(attribute);
    else name.push([attribute]);
    joined = after === '+';
    // A comma with nothing behind it.
    if (after === ',' && ATTRIBUTE.lastIndex === text.length) return undefined;
  }
  // The text begins with what is last in the certificate (§2.1).
  return name.length > 0 ? name.toReversed() : undefined;
}

/** §2.4: bytes of UTF-8 in hexadecimal, and characters after a backslash. */
function unescaped(value: string): string | undefined {
  // Spaces at the end are not of the value unless they are escaped.
  const trimmed = value.replace(/((?:^|[^\\])(?:\\\\)*)\s+$/, '$1');
  const bytes = trimmed.replaceAll(/(?:\\[0-9A-Fa-f]{2})+/g, (run) => {
    const text = Buffer.from(run.replaceAll('\\', ''), 'hex').toString('utf8');
    return text.replaceAll('\\', '\\\\');
  });
  return bytes.includes('\uFFFD') ? undefined : bytes.replaceAll(/\\(.)/gs, '$1');
}

/** RFC 5280 §7.1: by attributes, whatever their case, with runs of spaces as one. */
export function areSameName(one: DistinguishedName, other: DistinguishedName): boolean {
  return JSON.stringify(one.map(comparable)) === JSON.stringify(other.map(comparable));
}

const comparable = (attributes: readonly Attribute[]): string[] =>
  attributes
    .map(([type, value]) => `${type}=${value.normalize('NFKC').toLowerCase().trim().replaceAll(/\s+/g, ' ')}`)
    .toSorted();
