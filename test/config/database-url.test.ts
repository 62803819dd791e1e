/** DATABASE_URL with one host, with several, and with characters that do not belong there. */
import { expect, test } from 'vitest';
import { addressOf, databaseUrlProblem } from '../../src/config/database-url.ts';
import { ConfigError, loadConfig } from '../../src/config.ts';
import { connectionTo } from '../../src/main/database.ts';

test('one host is used as it is written', () => {
  const url = 'postgres://postern:p%40ss@db.example:5433/postern?sslmode=verify-full';
  expect(databaseUrlProblem(url)).toBeUndefined();
  expect(connectionTo(url)).toEqual({ connectionString: url, others: [] });
  expect(addressOf(url)).toMatchObject({ place: 'db.example:5433/postern', user: 'postern', requires: undefined });
  for (const other of ['postgresql://db/x', 'postgres:///x?host=/var/run', 'postgres://u@[::1]:5432/x'])
    expect([other, databaseUrlProblem(other)]).toEqual([other, undefined]);
});

test('several hosts share all the rest, and one of them is wanted that can be written to', () => {
  const url = 'postgres://u:p,w@a:5432,b:5433,[::1]/x?target_session_attrs=read-write&sslmode=require';
  expect(databaseUrlProblem(url)).toBeUndefined();
  expect(connectionTo(url)).toEqual({
    connectionString: 'postgres://u:p,w@a:5432/x?sslmode=require',
    others: ['postgres://u:p,w@b:5433/x?sslmode=require', 'postgres://u:p,w@[::1]/x?sslmode=require'],
    requires: 'read-write',
  });
  expect(addressOf('postgres://a,b/x').requires).toBe('read-write');
  expect(addressOf('postgres://a,b/x?target_session_attrs=any').requires).toBeUndefined();
  expect(addressOf('postgres://a/x?target_session_attrs=primary')).toMatchObject({
    urls: ['postgres://a/x'],
    requires: 'primary',
  });
});

test.each([
  'postgres://u:12@34@db/x',
  'postgres://u:12#34@db/x',
  'postgres://u:12/34@db/x',
  'postgres://u:12?34@db/x',
  'postgres://u:secret@db:x/y',
  'postgres://u:12@db,b:12@c/x',
])('%s is refused, without a word of it', (url) => {
  const problem = databaseUrlProblem(url);
  expect(problem).toMatch(/percent-encode/);
  expect(problem).not.toMatch(/12|34@|secret/);
  expect(() => loadConfig('command', { DATABASE_URL: url })).toThrow(ConfigError);
  expect(() => loadConfig('command', { DATABASE_URL: url })).not.toThrow(/12|34@|secret/);
});

test('a standby is not asked for', () => {
  for (const target of ['standby', 'read-only', 'prefer-standby'])
    expect(databaseUrlProblem(`postgres://a,b/x?target_session_attrs=${target}`)).toMatch(/any, read-write, primary/);
});
