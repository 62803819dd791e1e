import { expect, test } from 'vitest';
import { actsForItself, DEVICE_GRANT, GRANT_TYPES, MACHINE_GRANTS } from '../../src/protocol/client.ts';

test('specification §What the service does 4: the grants are authorization code, its refresh, client credentials, and the device flow', () => {
  expect(GRANT_TYPES).toEqual(['authorization_code', 'client_credentials', 'refresh_token', DEVICE_GRANT]);
});

test('a client gets tokens for itself by client_credentials alone', () => {
  expect(MACHINE_GRANTS).toEqual(['client_credentials']);
  expect(GRANT_TYPES.filter((name) => actsForItself({ grant_types: [name] }))).toEqual(['client_credentials']);
});
