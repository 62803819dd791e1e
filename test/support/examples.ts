/**
 * The examples of the documentation, run as their readers would run them: a block below `<!-- try: name -->` is saved to
 * a file inside node_modules, where it finds its packages, with the issuer and a free port of its own in it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { presets, type ClientMetadataInput } from '../../src/protocol/client-metadata.ts';
import type { Deployment } from './deployment.ts';
import { until } from './postgres-process.ts';
import { freePort } from './server.ts';
import { aClient } from './fixtures.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = readdirSync(join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => readFileSync(join(ROOT, 'docs', name), 'utf8'));
/** The ports that the documentation uses for applications. */
const PORTS = ['8080', '8090', '5173'];

interface Block {
  language: string;
  code: string;
}

const blocks = new Map<string, Block>(
  PAGES.flatMap((page) => [...page.matchAll(/<!-- try: (\S+) -->\n+```(jsx?)\n([^]*?)```/g)]).map(
    ([, name, language, code]) => [name!, { language: language!, code: code! }],
  ),
);

/** Every name that is to be tried, on any page. */
export const exampleNames = [...blocks.keys()].toSorted();

/** An example that has been saved. */
export interface Example {
  name: string;
  file: string;
  /** Where it listens, without a slash. */
  origin: string;
  client_id: string;
}

export interface Examples {
  /** Saves an example, and registers its client with the redirect URIs at its address. */
  save(
    name: string,
    how?: { port?: number; paths?: readonly string[] } & Partial<ClientMetadataInput>,
  ): Promise<Example>;
  /** Runs servers, all in one process, until they answer. */
  run(examples: readonly Example[]): Promise<void>;
  /** Bundles a page's script, as a front end's tools do. */
  bundle(example: Example, addition?: string): Promise<string>;
  close(): Promise<void>;
}

/** For the examples of one test file; whoever calls it closes them. */
export function examplesFor(deployment: Deployment): Examples {
  mkdirSync(join(ROOT, 'node_modules/.cache'), { recursive: true });
  const directory = mkdtempSync(join(ROOT, 'node_modules/.cache/docs-'));
  const stops: Array<() => Promise<unknown>> = [];
  const { test, issuer } = deployment;

  return {
    async save(name, { port: given, paths = ['/callback'], ...metadata } = {}) {
      const block = blocks.get(name);
      if (!block) throw new Error(`no page has an example ${name}`);
      const port = String(given ?? (await freePort()));
      const origin = `http://localhost:${port}`;
      const kind = block.code.includes('demo-spa') ? 'spa' : 'web';
      const client_id = `demo-${kind}-${name}`;
      const code = PORTS.reduce(
        (text, used) => text.replaceAll(new RegExp(`\\b${used}\\b`, 'g'), port),
        block.code.replaceAll('http://localhost:3000', issuer).replaceAll(`demo-${kind}`, client_id),
      );
      const file = join(directory, `${name}.${block.language === 'jsx' ? 'jsx' : 'mjs'}`);
      writeFileSync(file, code);
      const described = {
        ...presets[kind],
        client_name: name,
        redirect_uris: paths.map((path) => origin + path),
        post_logout_redirect_uris: [`${origin}/`],
        ...metadata,
      };
      const secret = kind === 'web' ? { client_secret: `${client_id}-secret` } : {};
      await aClient(test, { client_id, ...secret, ...described });
      return { name, file, origin, client_id };
    },

    async run(examples) {
      const all = join(directory, `all-${examples[0]!.name}.mjs`);
      writeFileSync(all, examples.map(({ file }) => `import ${JSON.stringify(file)};\n`).join(''));
      const child = spawn(process.execPath, ['--no-deprecation', all], {
        env: { ...process.env, NODE_ENV: 'development', SESSION_SECRET: 'a secret of forty characters for sessions' },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let output = '';
      child.stderr.setEncoding('utf8').on('data', (text) => (output += text));
      const exited = once(child, 'close');
      let ended = false;
      void exited.then(() => (ended = true));
      stops.push(() => {
        child.kill();
        return exited;
      });
      for (const { name, origin } of examples) {
        await until(`${name} answers`, async () => {
          if (ended) throw new Error(`an example ended by itself: ${output}`);
          return isListening(Number(new URL(origin).port));
        });
      }
    },

    async bundle({ file }, addition = '') {
      // Only where there is something to bundle: it takes a while to load.
      const { build } = await import('vite');
      writeFileSync(file, readFileSync(file, 'utf8') + addition);
      const built = await build({
        configFile: false,
        logLevel: 'error',
        build: { write: false, minify: false, rolldownOptions: { input: file } },
      });
      const [result] = Array.isArray(built) ? built : [built];
      if (!result || !('output' in result)) throw new Error('nothing was bundled');
      return result.output[0].code;
    },

    async close() {
      for (const stop of stops) await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: 'localhost' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
