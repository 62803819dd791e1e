/** Everything that is kept about a person, for that person: no secret, and nothing of anybody else. */
import type { Deps } from '../deps.ts';
import { record, type Actor } from '../events/index.ts';
import { readDevice } from '../protocol/user-agent.ts';
import { BY_TIME, page as eventsPage, type AuditEvent } from '../store/audit-log.ts';
import * as consents from '../store/consents.ts';
import * as grants from '../store/grants.ts';
import * as mails from '../store/mails.ts';
import * as passkeys from '../store/passkeys.ts';
import * as links from '../store/person-links.ts';
import type { Addressee } from '../store/addressee.ts';
import type { Db } from '../store/postgres/db.ts';
import * as sessions from '../store/sessions.ts';
import * as upstreamLinks from '../store/upstream-links.ts';
import * as users from '../store/users.ts';
import { describeAccount } from './accounts.ts';
import { credentialsOf } from './credentials.ts';

type Of = (db: Db, sub: string, now: Date) => Promise<unknown>;

/** Rows of one kind that are told; nobody has so many but a program. */
const MOST = 10_000;
const newest = (id: string) => ({ columns: ['created_at', id], descending: true, after: undefined, limit: MOST });

/** What there is, by the name it has in the document. A new kind of thing about people is a row. */
const sections: Readonly<Record<string, Of>> = {
  account: async (db, sub) => {
    const user = await users.find(db, sub);
    return user && { ...describeAccount(user), erase_after: user.erase_after };
  },
  memberships: async (db, sub) => (await users.findWithMemberships(db, sub))?.memberships,
  credentials: async (db, sub) => {
    const kept = await passkeys.allOf(db, sub);
    return [
      ...(await credentialsOf(db, sub)),
      ...kept.map((passkey) => ({ type: 'passkey', ...toldPasskey(passkey) })),
    ];
  },
  connections: (db, sub) => upstreamLinks.ofPerson(db, sub),
  sessions: async (db, sub, now) => {
    const ofState = (state: 'live' | 'ended') => sessions.page(db, { sub, state }, now, EVER, newest('sid'));
    const pages = await Promise.all([ofState('live'), ofState('ended')]);
    return pages.flatMap(({ rows }) => rows).map(({ device, ...session }) => ({ ...session, ...readDevice(device) }));
  },
  grants: async (db, sub, now) => {
    const ofState = (state: 'live' | 'revoked') => grants.page(db, { sub, state }, now, newest('grant_id'));
    const pages = await Promise.all([ofState('live'), ofState('revoked')]);
    return pages.flatMap(({ rows }) => rows).map(withoutPlace);
  },
  consents: async (db, sub) =>
    (await consents.page(db, sub, { columns: ['client_id'], descending: false, after: undefined, limit: MOST })).rows,
  mails: async (db, sub) => (await mails.toldTo(db, await addressee(db, sub), MOST)).map(withoutContents),
  requests: async (db, sub, now) => (await links.openOf(db, await addressee(db, sub), now)).map(withoutLink),
  events: async (db, sub) => (await eventsPage(db, { sub }, { ...newest(''), columns: BY_TIME })).rows.map(eventOf),
};

/** Before any session began: however long one was not used, it is kept and told. */
const EVER = new Date(0);

/** Where a row lies in our tables says nothing to anybody. */
const withoutPlace = ({ expires_bucket: _bucket, ...grant }: grants.Grant) => grant;

/** Whom rows are about that name a person by `sub`, or by nothing but an address: theirs, once they showed that it is. */
async function addressee(db: Db, sub: string): Promise<Addressee> {
  const user = await users.find(db, sub);
  return { sub, email: user?.email_verified ? user.email : null };
}

const toldPasskey = ({
  passkey_id,
  name,
  aaguid,
  transports,
  created_at,
  last_used_at,
  ...flags
}: passkeys.Passkey) => ({
  passkey_id,
  name,
  aaguid,
  transports,
  synchronised: flags.backup_eligible,
  created_at,
  last_used_at,
});

const withoutContents = ({ template, recipient, lang, state, created_at, done_at }: mails.Mail) => ({
  template,
  recipient,
  lang,
  state,
  created_at,
  done_at,
});

const withoutLink = ({ purpose, email, created_at, expires_at }: links.PersonLink) => ({
  purpose,
  email,
  created_at,
  expires_at,
});

/** Who else did it is told by their role alone: an operator's name is not the person's. */
const eventOf = ({ at, event, client_id, actor, ip, detail }: AuditEvent) => ({
  at,
  event,
  client_id,
  by: actor === null ? 'you' : 'operator',
  ip: actor === null ? ip : null,
  detail,
});

/** The document, and a note in the log that it was taken. */
export async function downloadData(
  { db }: Pick<Deps, 'db'>,
  sub: string,
  by: Actor,
  now: Date,
): Promise<Record<string, unknown>> {
  await record(db, { event: 'data_downloaded', sub }, by, now);
  const entries = await Promise.all(
    Object.entries(sections).map(async ([name, read]) => [name, await read(db, sub, now)] as const),
  );
  return { created_at: now, sub, ...Object.fromEntries(entries) };
}
