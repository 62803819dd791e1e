/**
 * What a User-Agent header (RFC 9110 §10.1.5) says of a device, in names that its owner knows. Only these names are kept: the
 * header is long, says more than anybody needs, and is whatever its sender likes.
 */

/** Names that the header holds; of several the first counts, since browsers also call themselves what they descend from. */
const PROGRAMS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|OPT)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?(?:Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bVersion\/[\d.]+.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const SYSTEMS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

const firstOf = (rows: typeof PROGRAMS, text: string): string =>
  rows.find(([pattern]) => pattern.test(text))?.[1] ?? '';

/** `Firefox/Windows`, either half empty where it is not known; null where neither is. */
export function deviceOf(user_agent: string | undefined): string | null {
  const text = (user_agent ?? '').slice(0, 512);
  const device = `${firstOf(PROGRAMS, text)}/${firstOf(SYSTEMS, text)}`;
  return device === '/' ? null : device;
}

/** The halves of that, as they are shown. */
export function readDevice(device: string | null): { program: string; system: string } {
  const [program = '', system = ''] = (device ?? '').split('/');
  return { program, system };
}
