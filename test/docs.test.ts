/** What is written is true: every variable is documented with its default, every cited test exists, every link leads somewhere. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { register } from '../src/clients/register.ts';
import { loadConfig, VARIABLES } from '../src/config.ts';
import { presets } from '../src/protocol/client-metadata.ts';
import { put } from '../src/store/resources.ts';
import { deploy, stopServersAfterwards, type Deployment } from './support/deployment.ts';
import { aService, aUser, BY, credentials, postForm } from './support/fixtures.ts';
import { freePort } from './support/server.ts';
import { Visitor } from './support/visitor.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const documents = [
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
];

describe('configuration', () => {
  const example = parseEnv(read('.env.example').replaceAll(/^#(?=[A-Z_]+=)/gm, ''));

  test('.env.example lists every variable once, and none that does not exist', () => {
    const listed = [...read('.env.example').matchAll(/^#([A-Z_]+)=/gm)].map(([, name]) => name!);
    expect(listed.toSorted()).toEqual([...VARIABLES].toSorted());
  });

  test('.env.example has the defaults', () => {
    expect(loadConfig('command', example)).toEqual(loadConfig('command', {}));
  });

  test.each(VARIABLES)('docs/configuration.md documents %s with its default', (name) => {
    const row = new RegExp(`^\\| \`${name}\` +\\| (.*?) +\\|`, 'm').exec(read('docs/configuration.md'));
    const value = example[name] ?? '';
    const shown = name === 'ISSUER' ? 'http://localhost:PORT' : value;
    expect(row?.[1]).toContain(value === '' ? 'none' : `\`${shown}\``);
  });
});

describe('links', () => {
  const headings = (file: string): string[] =>
    [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );

  test.each(documents)('every link in %s leads somewhere', (file) => {
    const links = [...read(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
    const lost = links.filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      return !existsSync(join(ROOT, target)) || (anchor !== undefined && !headings(target).includes(anchor));
    });
    expect(lost).toEqual([]);
  });

  test('every source file that docs/specification.md names exists', () => {
    const named = [...read('docs/specification.md').matchAll(/`((?:src|migrations)\/[^`]+)`/g)].map(
      ([, path]) => path!,
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

/** Tests whose names begin with a place in the specification: `spec.md §Endpoints 1: what it says`. */
function specificationTests(): Array<{ place: string; sentence: string; file: string }> {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).toSorted();
  return files
    .filter((file) => file.endsWith('.test.ts') && file !== 'docs.test.ts')
    .flatMap((file) =>
      [...read(`test/${file}`).matchAll(/(['"`])(?:\w+, )?spec\.md §([^:]+?): ((?:\\.|(?!\1).)+)\1/g)].map(
        ([, , place, sentence]) => ({ place: place!, sentence: sentence!.replaceAll(/\\(.)/g, '$1'), file }),
      ),
    );
}

/** As Prettier would write it. */
const asMarkdown = (text: string): string => text.replaceAll(/[\\*<]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&');

test('docs/specification.md lists every test of the specification, and no other', async () => {
  const shown = read('docs/specification.md');
  const markers = [...shown.matchAll(/<!-- tests: (.+) -->/g)].flatMap(([, places]) => places!.split(', '));
  const tests = specificationTests().map((entry) => {
    const fitting = markers.filter((marker) => entry.place.startsWith(marker));
    return { ...entry, marker: fitting.toSorted((a, b) => b.length - a.length)[0] };
  });
  expect(tests.filter(({ marker }) => marker === undefined)).toEqual([]);
  const listOf = (places: string): string => {
    const lines = tests
      .filter(({ marker }) => places.split(', ').includes(marker!))
      .toSorted((a, b) => a.place.localeCompare(b.place, 'en', { numeric: true }))
      .map(({ place, sentence, file }) => `- §${place}: ${asMarkdown(sentence)} ([${file}](../test/${file}))`);
    return lines.length === 0 ? '' : `\nShown by:\n\n${[...new Set(lines)].join('\n')}\n\n`;
  };
  const current = shown.replaceAll(
    /(<!-- tests: (.+) -->\n)[^]*?(<!-- end -->)/g,
    (_all, begin: string, places: string, end: string) => begin + listOf(places) + end,
  );
  await expect(current).toMatchFileSnapshot('../docs/specification.md');
});

describe('the examples of docs/connecting-an-app.md', () => {
  stopServersAfterwards();
  let deployment: Deployment;
  let username: string;
  let directory: string;

  beforeAll(async () => {
    deployment = await deploy();
    // Inside node_modules, so that the examples find their packages as they do at their reader's.
    mkdirSync(join(ROOT, 'node_modules/.cache'), { recursive: true });
    directory = mkdtempSync(join(ROOT, 'node_modules/.cache/docs-'));
    ({ username } = await aUser(deployment.test));
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true });
    await deployment.close();
  });

  /** An example's code, for this issuer and a free port of its own. */
  async function example(name: string, { port = 0 } = {}): Promise<string> {
    const [, code] = new RegExp(`<!-- try: ${name} -->\\n+\`\`\`js\\n([^]*?)\`\`\``).exec(
      read('docs/connecting-an-app.md'),
    )!;
    const file = join(directory, `${name}.mjs`);
    const adapted = code!
      .replaceAll('http://localhost:3000', deployment.issuer)
      .replaceAll('localhost:8080', `localhost:${port}`)
      .replaceAll(/\b8080\b/g, String(port))
      .replaceAll('demo-web', `demo-web-${name}`);
    writeFileSync(file, adapted);
    return file;
  }

  test.each(['openid-client', 'fastify'])('%s signs a person in', async (name) => {
    const port = await freePort();
    const app = `http://localhost:${port}`;
    await register(
      deployment.test.deps,
      {
        client_id: `demo-web-${name}`,
        client_secret: `demo-web-${name}-secret`,
        metadata: { ...presets.web, client_name: name, redirect_uris: [`${app}/callback`] },
      },
      BY,
      deployment.test.clock.now(),
    );
    const child = spawn(process.execPath, [await example(name, { port })], { stdio: ['ignore', 'inherit', 'inherit'] });
    try {
      const browser = new Visitor(app);
      await expect
        .poll(
          () =>
            fetch(app).then(
              () => true,
              () => false,
            ),
          { timeout: 10_000 },
        )
        .toBe(true);
      const sent = await browser.get(`${app}/login`);
      const person = new Visitor(deployment.issuer);
      const answer = await person.authorize(sent.headers.get('location')!, { username });
      const page = await browser.get(answer.href);
      expect(await page.json()).toMatchObject({ name: 'Ada Lovelace', preferred_username: username });
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  });

  test('jose verifies an access token for the API, and nothing else', async () => {
    const { test: app } = deployment;
    const resource = 'https://notes.example.test';
    const terms = { access_token_format: null, access_token_ttl: null, access_token_signing_alg: null };
    await put(app.deps.db, { resource, name: 'Notes API', client_id: null, scope: [], ...terms });
    app.deps.directory.clear();
    const service = await aService(app);
    const { verify } = (await import(await example('jose'))) as { verify(token: unknown): Promise<object> };
    const token = async (fields: Record<string, string>): Promise<unknown> => {
      const form = { grant_type: 'client_credentials', ...credentials(service), ...fields };
      return (await postForm(app, '/token', form)).json<Record<string, unknown>>()['access_token'];
    };
    expect(await verify(await token({ resource }))).toMatchObject({
      sub: service.client_id,
      scope: 'jobs:read jobs:write',
    });
    await expect(verify(await token({}))).rejects.toThrow('aud');
  });
});
