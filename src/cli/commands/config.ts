/** The configuration: is it good, and what is it. */
import { Option } from 'commander';
import { describeConfig, likelyMode, loadConfig } from '../../config.ts';
import type { Group, Leaf } from '../command.ts';
import { record } from '../output.ts';

const check: Leaf<{ mode?: 'dev' | 'serve' }> = {
  summary: 'check the environment as a server would; exit code 78 with every problem',
  options: () => [
    new Option('--mode <mode>', 'as which of them; serve when DATABASE_URL or ISSUER is set, else dev').choices([
      'dev',
      'serve',
    ]),
  ],
  here: true,
  examples: ['config check', 'config check --mode serve'],
  run: async (_process, { options: { mode = likelyMode() } }) => {
    loadConfig(mode);
    return { json: { ok: true, mode }, ids: [mode], text: `The configuration is good for \`postern ${mode}\`.` };
  },
};

const print: Leaf = {
  summary: 'print the configuration in force, without its secrets',
  here: true,
  examples: ['config print', 'config print --json'],
  run: async () => {
    const shown = describeConfig(loadConfig('command'));
    const lines = Object.entries(shown).map(([name, value]) => [name, isUnset(value) ? '(not set)' : value]);
    return { json: shown, ids: Object.keys(shown), text: record(Object.fromEntries(lines)) };
  },
};

const isUnset = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0);

export const config: Group = { summary: 'the environment', commands: { check, print } };
