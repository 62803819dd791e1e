/** Themes: how pages look. There is one of the server, and one of each client that has its own. */
import { putTheme, removeTheme, themeFields, themeOf } from '../clients/themes.ts';
import * as clients from '../store/clients.ts';
import * as store from '../store/themes.ts';
import { collectionOf } from './api/collection.ts';
import { Problem } from './api/problem.ts';

const item = themeFields.required();

const ofServer = collectionOf({
  noun: 'theme',
  summary: 'the theme of the server’s pages',
  path: '/settings/theme',
  subject: 'settings',
  item,
});

export const serverTheme = ofServer.with({
  async find({ db }) {
    const row = await store.find(db, null);
    return row && themeOf(row);
  },
  async findLocked({ trx }) {
    const row = await store.findLocked(trx, null);
    return row && themeOf(row);
  },
  replace: ofServer.replace({
    body: themeFields,
    creates: true,
    writable: (theme) => theme,
    run: ({ trx, by, now }, _ids, theme) => putTheme(trx, null, theme, by, now),
  }),
  remove: ({ trx, by, now }) => removeTheme(trx, null, by, now),
});

const ofClient = collectionOf({
  noun: 'theme of a client',
  summary: 'the theme of the pages of a client',
  path: '/clients/{client_id}/theme',
  subject: 'clients',
  item,
});

export const clientTheme = ofClient.with({
  async find({ db }, { client_id }) {
    const row = await store.find(db, client_id);
    return row && themeOf(row);
  },
  async findLocked({ trx }, { client_id }) {
    const row = await store.findLocked(trx, client_id);
    return row && themeOf(row);
  },
  replace: ofClient.replace({
    body: themeFields,
    creates: true,
    writable: (theme) => theme,
    async run({ trx, by, now }, { client_id }, theme) {
      if (!(await clients.findLocked(trx, client_id))) throw new Problem('not-found', 'there is no such client');
      return putTheme(trx, client_id, theme, by, now);
    },
  }),
  remove: ({ trx, by, now }, { client_id }) => removeTheme(trx, client_id, by, now),
});
