/** The people, clients and API of development mode: made again at each start, for the issuer of the day. */
import { register, updateClient } from '../clients/register.ts';
import { putApi } from '../clients/scopes.ts';
import type { Deps } from '../deps.ts';
import type { ClientMetadataInput } from '../protocol/client-metadata.ts';
import { presets } from '../protocol/client-metadata.ts';
import { pages } from '../protocol/endpoint.ts';
import * as users from '../store/users.ts';
import * as clients from '../store/clients.ts';
import { transact } from '../store/postgres/db.ts';
import { hashPassword, insertAccount } from '../users/accounts.ts';

export const DEMO_PASSWORD = 'postern-demo';
export const DEMO_WEB = { client_id: 'demo-web', client_secret: 'demo-web-secret' } as const;
export const DEMO_M2M = { client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' } as const;
const DEMO_RESOURCE = 'https://notes.example.test';

const BY = { actor: 'dev' };

const ALL = { claims: [], for_people: true, for_machines: true };
/** The scopes of the demo's API. */
const NOTES = {
  'notes:read': {
    description: 'Read your notes',
    descriptions: {
      de: 'Ihre Notizen lesen',
      fr: 'Lire vos notes',
      es: 'Leer sus notas',
      pt: 'Ler suas notas',
      pl: 'Odczyt Twoich notatek',
      ja: 'メモの閲覧',
      'zh-Hans': '查看您的笔记',
      ar: 'قراءة ملاحظاتك',
    },
    ...ALL,
  },
  'notes:write': {
    description: 'Write and delete your notes',
    descriptions: {
      de: 'Ihre Notizen schreiben und löschen',
      fr: 'Écrire et supprimer vos notes',
      es: 'Escribir y eliminar sus notas',
      pt: 'Escrever e apagar suas notas',
      pl: 'Zapis i usuwanie Twoich notatek',
      ja: 'メモの作成と削除',
      'zh-Hans': '编写和删除您的笔记',
      ar: 'كتابة ملاحظاتك وحذفها',
    },
    ...ALL,
  },
};

type Needs = Pick<Deps, 'config' | 'db' | 'random' | 'fetch' | 'passwords'>;

/** Seeds what is missing and brings the rest up to date; what people did with it stays. */
export async function seed(deps: Needs, now: Date): Promise<void> {
  await putApi(deps, DEMO_RESOURCE, { name: 'Notes API', scopes: NOTES }, BY, now);
  for (const { client_id, client_secret, metadata } of demoClients(deps.config.ISSUER)) {
    const present = await clients.find(deps.db, client_id);
    if (present) await updateClient(deps, client_id, metadata, BY, now);
    else await register(deps, { client_id, client_secret, metadata }, BY, now);
  }
  for (const [username, name] of [
    ['ada', 'Ada Lovelace'],
    ['bob', 'Bob Noyce'],
  ] as const) {
    if (await users.findByName(deps.db, username)) continue;
    const [given_name, family_name] = name.split(' ') as [string, string];
    const claims = { name, given_name, family_name };
    const email = `${username}@example.test`;
    const account = { username, email, email_verified: true, claims };
    // Everybody knows it: there is nothing to judge, and the dictionaries for that take half a second of the first start.
    const phc = await hashPassword(deps, DEMO_PASSWORD);
    await transact(deps.db, (trx) => insertAccount(trx, deps, account, phc, BY, now));
  }
}

function demoClients(
  ISSUER: string,
): Array<{ client_id: string; client_secret?: string; metadata: ClientMetadataInput }> {
  const callback = `${ISSUER}${pages.demo_callback}`;
  const person = 'openid profile email offline_access notes:read notes:write';
  return [
    {
      ...DEMO_WEB,
      metadata: {
        ...presets.web,
        client_name: 'Demo Web App',
        // The last one is Auth.js's, which cannot be chosen.
        redirect_uris: [callback, 'http://localhost:8080/callback', 'http://localhost:8080/auth/callback/postern'],
        post_logout_redirect_uris: [`${ISSUER}${pages.logout_done}`, 'http://localhost:8080/'],
        scope: person,
      },
    },
    {
      client_id: 'demo-spa',
      metadata: {
        ...presets.spa,
        client_name: 'Demo Single-Page App',
        redirect_uris: ['http://localhost:5173/callback', 'http://localhost:5173/'],
        post_logout_redirect_uris: ['http://localhost:5173/'],
        scope: person,
      },
    },
    {
      client_id: 'demo-device',
      metadata: { ...presets.device, client_name: 'Demo Device', scope: person },
    },
    {
      ...DEMO_M2M,
      metadata: { ...presets.m2m, client_name: 'Demo Service', scope: 'notes:read notes:write' },
    },
  ];
}
