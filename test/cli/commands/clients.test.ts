import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandsOn, type Postern } from '../../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { stopServers, temporaryDirectory } from '../../support/server.ts';

let database: TestDatabase;
let postern: Postern;
beforeAll(async () => {
  database = await createTestDatabase();
  postern = await commandsOn(database);
});
afterAll(async () => {
  await database.close();
  await stopServers();
});

const CALLBACK = 'https://shop.example.test/cb';
const eventsOf = (client_id: string) =>
  database.db.selectFrom('audit_events').selectAll().where('client_id', '=', client_id).orderBy('event_id').execute();
const secretsOf = (client_id: string) =>
  database.db
    .selectFrom('client_secrets')
    .selectAll()
    .where('client_id', '=', client_id)
    .orderBy('created_at')
    .execute();
const sha256 = (text: unknown): Buffer => createHash('sha256').update(String(text)).digest();

describe('clients create', () => {
  test('answers with the RFC 7591 document, and the secret once', async () => {
    const made = await postern(['clients', 'create', '--name', 'Shop', '--redirect-uri', CALLBACK, '--json']);
    expect([made.code, made.stderr]).toEqual([0, '']);
    const document = made.json();
    expect(document).toMatchObject({
      client_id: expect.stringMatching(/^[\w-]{22}$/),
      client_secret: expect.stringMatching(/^[\w-]{43}$/),
      client_secret_expires_at: 0,
      client_id_issued_at: expect.any(Number),
      client_name: 'Shop',
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
      scope: 'openid profile email',
    });
    const client_id = String(document['client_id']);
    expect((await secretsOf(client_id)).map(({ hash }) => hash)).toEqual([sha256(document['client_secret'])]);
    expect(await eventsOf(client_id)).toMatchObject([
      { event: 'client_created', actor: expect.stringMatching(/^cli:/), ip: null },
    ]);

    const { client_secret: _secret, client_secret_expires_at: _never, ...public_ } = document;
    expect((await postern(['clients', 'get', client_id, '--json'])).json()).toEqual(public_);
  });

  test('shows people the same, with the secret and what to know of it', async () => {
    const made = await postern([
      'clients',
      'create',
      '--client-id',
      'shown',
      '--preset',
      'm2m',
      '--scope',
      'not:there',
    ]);
    expect(made.stdout).toMatch(/^client_id +shown\nclient_secret +\S{43}\n/);
    expect(made.problems).toEqual([
      'The secret is shown this once: only its hash is kept.',
      'The scope not:there does not exist yet: postern scopes put not:there',
    ]);
  });

  test('takes every member as an option, and lives as durations', async () => {
    const options =
      '--preset native --client-id phone --post-logout-redirect-uri com.example.app:/out --require-pkce ' +
      '--access-token-format opaque --access-token-ttl 15m --id-token-ttl 90 --refresh-token-ttl 30d ' +
      '--refresh-token-idle-ttl 12h --id-token-claims minimal --id-token-alg ES256 --contact a@example.test ' +
      '--response-mode query --response-mode form_post --response-mode jwt --authorization-alg ES256 --default-max-age 1h --default-acr-value 2';
    const uris = ['--redirect-uri', 'com.example.app:/cb', '--redirect-uri', 'http://127.0.0.1/cb'];
    const made = await postern([
      'clients',
      'create',
      ...options.split(' '),
      ...uris,
      '--scope',
      'openid email',
      '--json',
    ]);
    expect(made.stderr).toBe('');
    expect(made.json()).toMatchObject({
      client_id: 'phone',
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      redirect_uris: ['com.example.app:/cb', 'http://127.0.0.1/cb'],
      post_logout_redirect_uris: ['com.example.app:/out'],
      require_pkce: true,
      access_token_format: 'opaque',
      access_token_ttl: 900,
      id_token_ttl: 90,
      refresh_token_ttl: 2_592_000,
      refresh_token_idle_ttl: 43_200,
      id_token_claims: 'minimal',
      id_token_signed_response_alg: 'ES256',
      contacts: ['a@example.test'],
      response_modes: ['query', 'form_post', 'jwt'],
      authorization_signed_response_alg: 'ES256',
      default_max_age: 3600,
      default_acr_values: ['2'],
      scope: 'openid email',
    });
    expect(made.json()).not.toHaveProperty('client_secret');
  });

  test('is idempotent with --if-not-exists, and refuses a taken id without', async () => {
    const create = [
      'clients',
      'create',
      '--preset',
      'm2m',
      '--client-id',
      'jobs',
      '--client-secret',
      'a secret for jobs',
    ];
    expect((await postern([...create, '--json'])).json()).toMatchObject({
      client_secret: 'a secret for jobs',
      scope: '',
    });
    const again = await postern([...create, '--name', 'Other', '--if-not-exists', '--json']);
    expect(again.code).toBe(0);
    expect(again.json()).toMatchObject({ client_id: 'jobs' });
    expect(again.stdout).not.toMatch(/a secret for jobs|Other/);
    expect(await secretsOf('jobs')).toHaveLength(1);
    const refused = await postern(create);
    expect([refused.code, refused.stderr]).toEqual([1, 'error: the id jobs is taken\n']);
  });

  test('takes a whole document from standard input or a file', async () => {
    const document = {
      client_id: 'imported',
      client_secret: 'kept from elsewhere',
      client_id_issued_at: 1,
      client_name: 'Imported',
      redirect_uris: [CALLBACK],
      response_types: ['code'],
    };
    const stdin = JSON.stringify(document);
    const made = await postern(['clients', 'create', '--file', '-', '--name', 'Renamed', '--json'], { stdin });
    // RFC 7591 §2: what a document does not say has its default.
    expect(made.json()).toMatchObject({
      client_id: 'imported',
      client_name: 'Renamed',
      grant_types: ['authorization_code'],
    });
    expect((await secretsOf('imported'))[0]?.hash).toEqual(sha256('kept from elsewhere'));

    const file = join(temporaryDirectory(), 'client.json');
    await writeFile(file, JSON.stringify({ ...document, client_id: 'from-file', bogus: 1, more: 2 }));
    const refused = await postern(['clients', 'create', '--file', file]);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.problems).toEqual(['error: bogus: there is no such member', 'error: more: there is no such member']);
  });

  test('says everything that is wrong, a line each, and leaves nothing behind', async () => {
    const wrong = ['--redirect-uri', 'http://shop.example.test/cb', '--redirect-uri', 'nonsense'];
    const refused = await postern(['clients', 'create', '--client-id', 'wrong', ...wrong]);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.problems).toEqual([
      'error: redirect_uris: "http://shop.example.test/cb" must use https',
      'error: redirect_uris: "nonsense" must be an absolute URI: it begins with no scheme, such as https://',
    ]);
    const json = await postern(['clients', 'create', '--preset', 'spa', '--client-id', 'wrong', '--json']);
    const message = 'redirect_uris: needs at least one redirect URI';
    expect(JSON.parse(json.stderr)).toEqual({ error: 'usage', message });
    expect(await eventsOf('wrong')).toEqual([]);
  });
});

describe('other commands for clients', () => {
  test('update changes what is named, and null in a document goes back to the default', async () => {
    const german = ['--localized', 'client_name#de=Geändert', '--localized', 'client_name#fr='];
    const options = ['--name', 'Changed', ...german, '--skip-consent', '--access-token-ttl', '60'];
    const changed = await postern(['clients', 'update', 'imported', ...options, '--json']);
    expect(changed.json()).toMatchObject({
      client_name: 'Changed',
      'client_name#de': 'Geändert',
      skip_consent: true,
      access_token_ttl: 60,
      redirect_uris: [CALLBACK],
    });
    const merged = await postern(['clients', 'update', 'imported', '--file', '-', '--no-skip-consent', '--json'], {
      stdin: '{"access_token_ttl":null,"scope":"openid"}',
    });
    expect(merged.json()).toMatchObject({ client_name: 'Changed', skip_consent: false, scope: 'openid' });
    expect(merged.json()).not.toHaveProperty('access_token_ttl');
    const events = (await eventsOf('imported')).map(({ event }) => event);
    expect(events).toEqual(['client_created', 'client_updated', 'client_updated']);
    expect((await postern(['clients', 'update', 'nobody', '--name', 'x'])).code).toBe(3);
  });

  test('get says what became of the logo, and a client that brought a software statement can be saved as it is shown', async () => {
    const logo = ['--logo-uri', 'https://shop.example.test/logo.png'];
    await postern(['clients', 'create', '--client-id', 'pretty', '--redirect-uri', CALLBACK, ...logo]);
    const said = async () =>
      (await postern(['clients', 'get', 'pretty'])).lines.find((line) => line.startsWith('logo '));
    expect(await said()).toMatch(/^logo +not there yet$/);
    const set = (row: object) => database.db.updateTable('client_logos').set(row).execute();
    await set({ next_at: null, last_failure: 'it is no image' });
    expect(await said()).toMatch(
      /^logo +given up, the last try failed: it is no image; any `clients update` tries again$/,
    );
    await set({ fetched_at: new Date(0), media_type: 'image/png', last_failure: null });
    expect(await said()).toMatch(/^logo +image\/png, fetched 1970-01-01T00:00:00.000Z$/);

    await database.db.updateTable('clients').set({ software_statement: 'a.b.c' }).execute();
    const shown = (await postern(['clients', 'get', 'pretty', '--json'])).json();
    expect(shown).toMatchObject({ software_statement: 'a.b.c' });
    const stdin = JSON.stringify(shown);
    expect((await postern(['clients', 'update', 'pretty', '--file', '-', '--json'], { stdin })).json()).toEqual(shown);
    expect((await postern(['clients', 'create', '--file', '-'], { stdin })).problems).toContain(
      'error: software_statement: there is no such member',
    );
    await postern(['clients', 'delete', 'pretty']);
  });

  test('rotate-secret shows the new secret; the old one keeps working for the overlap', async () => {
    const made = await postern(['clients', 'rotate-secret', 'jobs', '--overlap', '7d', '--json']);
    const [old, young] = await secretsOf('jobs');
    expect(young?.hash).toEqual(sha256(made.json()['client_secret']));
    expect(young?.expires_at).toBeNull();
    expect(old!.expires_at!.getTime() - young!.created_at.getTime()).toBe(7 * 86_400_000);
    const given = ['--client-secret', 'a secret of my own', '-q'];
    expect((await postern(['clients', 'rotate-secret', 'jobs', ...given])).stdout).toBe('a secret of my own\n');
    const refused = await postern(['clients', 'rotate-secret', 'phone']);
    expect([refused.code, refused.stderr]).toEqual([4, 'error: phone is a public client: it has no secret\n']);
    expect((await postern(['clients', 'rotate-secret', 'nobody'])).code).toBe(3);
  });

  test('list and delete', async () => {
    // Other clients have drawn ids, so what comes next is read from the whole list.
    const all = (await postern(['clients', 'list', '--json'])).items();
    expect(all).toContainEqual(expect.objectContaining({ client_id: 'jobs', response_types: [] }));
    const page = await postern(['clients', 'list', '--limit', '1', '--after', 'imported', '--json']);
    expect(page.items()).toEqual([all[all.findIndex(({ client_id }) => client_id === 'imported') + 1]]);
    const table = await postern(['clients', 'list']);
    expect(table.lines[0]).toMatch(/^CLIENT ID +NAME +AUTHENTICATION +GRANT TYPES$/);
    expect(table.stdout).toMatch(/^imported +Changed +client_secret_basic +authorization_code$/m);

    const gone = await postern(['clients', 'delete', 'imported', '--json']);
    expect(gone.json()).toEqual({ client_id: 'imported', deleted: true });
    expect((await eventsOf('imported')).at(-1)?.event).toBe('client_deleted');
    const never = await postern(['clients', 'delete', 'imported', '--json']);
    expect([never.code, never.stdout]).toEqual([3, '']);
    expect(JSON.parse(never.stderr)).toEqual({ error: 'not_found', message: 'there is no client imported' });
  });
});

test('clients check names what keeps a client from FAPI 2.0, with the command that mends it; the preset is kept', async () => {
  const made = await postern(['clients', 'create', '--name', 'Bank', '--redirect-uri', CALLBACK, '--json']);
  const client_id = String(made.json()['client_id']);
  const wrong = await postern(['clients', 'check', client_id, '--json']);
  expect(wrong.code).toBe(1);
  const deviations = wrong.json()['deviations'] as Array<Record<string, string>>;
  expect(deviations.map(({ member }) => member)).toContain('dpop_bound_access_tokens');
  for (const { command } of deviations) expect(command).toMatch(new RegExp(`^postern clients update ${client_id} --`));
  const jwks = ['--jwks-uri', 'https://bank.example.test/jwks'];
  const mended = await postern(['clients', 'update', client_id, '--preset', 'fapi2', ...jwks, '--json']);
  expect([mended.code, mended.stderr]).toEqual([0, '']);
  const right = await postern(['clients', 'check', client_id]);
  expect([right.code, right.stdout]).toEqual([0, `Client ${client_id} keeps to fapi2_security.\n`]);
  const half = await postern(['clients', 'update', client_id, '--no-dpop-bound']);
  expect(half.code).toBe(2);
  expect(half.stderr).toContain('FAPI 2.0 Security Profile §5.3.2.1');
});
