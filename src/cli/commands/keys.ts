/** The server's own keys: which there are, another one, and one fewer. */
import { Option } from 'commander';
import { ConfigError } from '../../config.ts';
import type { Deps } from '../../deps.ts';
import { KEY_ALGS, type KeyAlg } from '../../protocol/key-alg.ts';
import { NOTICED_WITHIN } from '../../store/postgres/noticed.ts';
import { everything, orUndefined } from '../api.ts';
import type { Group, Leaf } from '../command.ts';
import { notFound } from '../failure.ts';
import { record, table } from '../output.ts';

const NOTICED = `Running servers notice within ${NOTICED_WITHIN.keys} seconds.`;

const list: Leaf = {
  summary: 'list keys, oldest first',
  explanation: [
    'sig: tokens are signed with it. enc: clients encrypt request objects with it.',
    'next: published, used later. active: in use. retired: replaced; good while what was made with it may live.',
  ].join('\n'),
  examples: ['keys list'],
  run: ({ api }) =>
    api(async (to) => {
      const rows = await everything(to, 'GET /keys');
      return {
        json: rows,
        ids: rows.map(({ kid }) => kid),
        text: table(
          ['KID', 'USE', 'ALG', 'STATE', 'PUBLISHED', 'ACTIVE FROM', 'UNTIL'],
          rows.map((key) => [
            key.kid,
            key.use,
            key.alg,
            key.state,
            key.published ? 'yes' : 'no',
            key.activates_at,
            key.ends_at,
          ]),
          'There are no keys yet: the server makes them when it starts.',
        ),
      };
    }),
};

const rotate: Leaf<{ alg: KeyAlg; immediately?: boolean }> = {
  summary: 'make a new key; the present one is used until everybody can have the new one',
  options: () => [
    new Option('--alg <alg>', 'the algorithm to make it for').choices(KEY_ALGS).default('RS256'),
    new Option('--immediately', 'use it at once, although others may not know it for some minutes'),
  ],
  examples: ['keys rotate', 'keys rotate --alg ES256'],
  run: ({ api }, { options: { alg, immediately = false } }) =>
    api(async (to, deps) => {
      demandSecretKeys(deps);
      const { kid, activates_at } = await to.call('POST /keys/rotate', { body: { alg, immediately } });
      const key = { kid, alg, activates_at };
      return { json: key, ids: [kid], text: record(key, ['kid']), notes: [NOTICED] };
    }),
};

const retire: Leaf = {
  summary: 'take a key out of use at once: everything it signed is refused, nothing encrypted to it is opened',
  argument: '<kid>',
  explanation: [
    'For a key that others may know. If it is the one in use, another one that is used at once is made first.',
    'To replace a key that is only old, rotate it: what it signed stays good.',
  ].join('\n'),
  examples: ['keys retire 8Ub1…'],
  run: ({ api }, { argument: kid }) =>
    api(async (to, deps) => {
      demandSecretKeys(deps);
      const done = await orUndefined(to.call('POST /keys/{kid}/retire', { ids: { kid } }));
      if (!done) throw notFound(`there is no key ${kid}`);
      return {
        json: done,
        ids: [kid],
        text: record({ retired: kid, alg: done['alg'], replacement: done['replacement'] }),
        notes: [NOTICED],
      };
    }),
};

/** Keys are sealed under SECRET_KEYS. @throws ConfigError */
function demandSecretKeys(deps: Deps | undefined): void {
  // A server elsewhere has its own.
  if (!deps || deps.config.SECRET_KEYS.length > 0) return;
  throw new ConfigError(['SECRET_KEYS is not set: give this command the keys of the server']);
}

export const keys: Group = {
  summary: 'what tokens are signed with, and what clients encrypt with',
  commands: { list, rotate, retire },
};
