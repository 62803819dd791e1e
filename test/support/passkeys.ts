/** Passkeys for tests: people who have one, and what a page asks of its browser. */
import { randomBytes } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import { creationOptions } from '../../src/protocol/webauthn.ts';
import * as store from '../../src/store/passkeys.ts';
import type { Trx } from '../../src/store/postgres/db.ts';
import * as users from '../../src/store/users.ts';
import type { User } from '../../src/store/users.ts';
import { makeChallenge, type ChallengeBinding } from '../../src/users/factors/passkey.ts';
import { createPasskey } from '../../src/users/passkeys.ts';
import type { TestApp } from './app.ts';
import { Authenticator, type Asked } from './authenticator.ts';

const BINDING: ChallengeBinding = ['create', 'a browser', 'a test'];

/** A device with a passkey of this person. */
export async function aPasskey(
  { deps, clock }: TestApp,
  user: User,
  manner: ConstructorParameters<typeof Authenticator>[1] = {},
  name = '',
): Promise<Authenticator> {
  const device = new Authenticator(deps.config.ISSUER, manner);
  const handle = await store.userHandle(deps.db, user.sub, randomBytes(32));
  const person = { handle, name: user.username, display_name: user.username };
  const challenge = makeChallenge(deps, BINDING, clock.now());
  const answer = device.create(creationOptions(deps.config.ISSUER, challenge, person, []));
  const by = { ip: '192.0.2.1', network: '192.0.2.0/24', request_id: 'a test' };
  const hold = (trx: Trx) => users.findLocked(trx, user.sub);
  await createPasskey(deps, { sub: user.sub, answer, challenge: BINDING, name, hold }, by, clock.now());
  return device;
}

/** What a page asks of its browser: to use a passkey, or to make one. */
export function askedOn(page: LightMyRequestResponse): Asked {
  const [, json] = /data-(?:get|create)="([^"]*)"/.exec(page.body) ?? [];
  if (json === undefined) throw new Error(`nothing is asked of authenticators: ${page.body.slice(0, 500)}`);
  return JSON.parse(json.replaceAll('&quot;', '"').replaceAll('&amp;', '&')) as Asked;
}
