import { decodeProtectedHeader, exportPKCS8, generateKeyPair, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { createSecrets } from '../../../src/keys/secrets.ts';
import { random } from '../../../src/platform/random.ts';
import type { Upstream } from '../../../src/store/upstreams.ts';
import { sealSecret, secretFor } from '../../../src/users/upstream/secret.ts';

const secrets = createSecrets(['a secret key for tests, of forty characters'], random);
const apple = (secret: string): Upstream =>
  ({
    upstream: 'apple',
    issuer: 'https://appleid.apple.com',
    client_id: 'com.example.app',
    secret_team_id: 'TEAM123456',
    secret_key_id: 'KEY1234567',
    sealed_secret: sealSecret({ secrets }, 'apple', secret),
  }) as Upstream;

test('Apple’s client secret is a JWT that is signed with ES256 at use, for this provider and a few minutes', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const now = new Date('2026-11-22T12:00:00Z');
  const secret = (await secretFor({ secrets }, apple(await exportPKCS8(privateKey)), now))!;
  expect(decodeProtectedHeader(secret)).toEqual({ alg: 'ES256', kid: 'KEY1234567' });
  const { payload } = await jwtVerify(secret, publicKey, { currentDate: now });
  const iat = now.getTime() / 1000;
  expect(payload).toEqual({
    iss: 'TEAM123456',
    sub: 'com.example.app',
    aud: 'https://appleid.apple.com',
    iat,
    exp: iat + 300,
  });
});

test('what is no such key is a provider that does not work at the moment, not a defect', async () => {
  const wrong = secretFor({ secrets }, apple('no key'), new Date(0));
  await expect(wrong).rejects.toMatchObject({ error: 'temporarily_unavailable' });
});
