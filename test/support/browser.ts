/**
 * A real Chromium for tests, on a machine that has only Node and npm: CHROMIUM_PATH, else an installed one, else the
 * one inside @sparticuz/chromium. That package unpacks its libraries only on Lambda and always to the same names, so
 * it is unpacked here: once, to a directory of our own.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { chromium, type Browser, type Page } from 'playwright-core';

const require = createRequire(import.meta.url);

const installed = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/opt/google/chrome/chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const args = [
  '--no-sandbox', // tests run as root too
  '--disable-gpu',
  '--disable-dev-shm-usage', // containers have 64 MB there
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--no-zygote',
  '--font-render-hinting=none',
  '--force-color-profile=srgb',
];

type Executable = { path: string; env: Record<string, string> };

/** The caller closes it. One per test file is enough: contexts are cheap, and as separate as browsers. */
export async function launchBrowser(): Promise<Browser> {
  const { path, env } = findChromium();
  return chromium.launch({ executablePath: path, args, env: { ...process.env, ...env }, headless: true });
}

function findChromium(): Executable {
  const chosen = process.env['CHROMIUM_PATH'] ?? installed.find((path) => existsSync(path));
  if (chosen !== undefined && chosen !== '') return { path: chosen, env: {} };
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('No Chromium found: install one, or set CHROMIUM_PATH.');
  }
  const home = unpacked();
  const libraries = [join(home, 'lib'), process.env['LD_LIBRARY_PATH']].filter(Boolean).join(':');
  return {
    path: join(home, 'chromium'),
    env: { LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: join(home, 'fonts.conf') },
  };
}

function unpacked(): string {
  const bin = join(dirname(require.resolve('@sparticuz/chromium')), '..', 'bin');
  const { version } = JSON.parse(readFileSync(join(bin, '..', 'package.json'), 'utf8')) as { version: string };
  const user = process.getuid?.() ?? 0;
  const home = join(tmpdir(), `postern-chromium-${version}-${user}`);
  if (existsSync(home)) {
    // The name can be guessed, and what lies there is executed.
    if (statSync(home).uid !== user) throw new Error(`${home} belongs to somebody else; set TMPDIR or CHROMIUM_PATH.`);
    return home;
  }

  // Made aside and moved into place whole, so that processes that start together cannot see half of it.
  const fresh = mkdtempSync(join(tmpdir(), 'postern-chromium-'));
  try {
    const archive = (name: string) => brotliDecompressSync(readFileSync(join(bin, name)));
    writeFileSync(join(fresh, 'chromium'), archive('chromium.br'), { mode: 0o755 });
    untar(archive('al2023.tar.br'), fresh);
    untar(archive('fonts.tar.br'), fresh);
    writeFileSync(join(fresh, 'fonts.conf'), fontsConf(home));
    chmodSync(fresh, 0o700);
    renameSync(fresh, home);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (!existsSync(home)) throw error; // else another process was faster
  }
  return home;
}

/** The package's Open Sans first, so that screenshots agree between machines; the machine's own for other scripts. */
const fontsConf = (home: string) => `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<dir>${home}/fonts</dir><dir>/usr/share/fonts</dir><dir>/usr/local/share/fonts</dir><cachedir>${home}/cache</cachedir>
<alias binding="same"><family>monospace</family><prefer><family>DejaVu Sans Mono</family><family>Liberation Mono</family></prefer></alias>
${['system-ui', 'sans-serif'].map((family) => `<alias binding="same"><family>${family}</family><prefer><family>Open Sans</family></prefer></alias>`).join('')}
</fontconfig>`;

/** Plain ustar: regular files with short names, which is all that these archives hold. */
function untar(archive: Buffer, into: string): void {
  const text = (from: number, length: number) => archive.toString('latin1', from, from + length).replace(/\0.*$/s, '');
  for (let at = 0; at + 512 <= archive.length && archive[at] !== 0;) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    const type = text(at + 156, 1);
    const path = join(into, text(at, 100));
    if (!path.startsWith(into)) throw new Error(`leaves its archive: ${path}`);
    if (type === '0' || type === '') {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, archive.subarray(at + 512, at + 512 + size), { mode: Number.parseInt(text(at + 100, 8), 8) });
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
}

const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const axeTags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * What axe-core objects to on the page, one line per rule and element; empty is good. The page's own CSP does not
 * apply to what a debugger evaluates, but JavaScript must be on in its context.
 */
export async function axeViolations(page: Page): Promise<string[]> {
  await loadAxe(page);
  return axeFindings(page);
}

/** Makes axe-core ready in a document, and in what is set into it later. */
export const loadAxe = (page: Page): Promise<unknown> => page.evaluate(axeSource);

/** The same where it is ready, by these rules alone. */
export function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  const runOnly = rules ? { type: 'rule', values: rules } : axeTags;
  return page.evaluate(`axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ["violations"] }).then(({ violations }) =>
    violations.flatMap((rule) => rule.nodes.map((node) =>
      rule.id + ': ' + node.target.join(' ') + ': ' + (node.failureSummary ?? rule.help).replace(/\\s+/g, ' '))))`);
}
