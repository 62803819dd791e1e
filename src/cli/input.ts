/** Reads the input of commands: durations, lists, JSON documents, and secrets that must not be seen. */
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import { readUtf8 } from '../protocol/plain-text.ts';
import { DAY } from '../protocol/numeric-date.ts';
import { Failure, usage } from './failure.ts';

const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: DAY };

/** Seconds, or a duration such as 90s, 15m, 12h, 7d; in seconds. @throws InvalidArgumentError */
export function seconds(value: string): number {
  const [, count, unit] = /^(\d{1,10})([smhd]?)$/.exec(value) ?? [];
  if (count === undefined) throw new InvalidArgumentError('Use seconds, or a duration such as 90s, 15m, 12h or 7d.');
  return Number(count) * UNITS[unit!]!;
}

/** For options that may be given several times. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** For lists separated by spaces, which may also be given in pieces. */
export const words = (value: string, before: readonly string[] = []): string[] => [
  ...before,
  ...value.split(' ').filter((word) => word !== ''),
];

export function count(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('Use a number from 1.');
  return Number(value);
}

/** A JSON object from a file, or from standard input for `-`. @throws Failure */
export async function readDocument(file: string): Promise<Record<string, unknown>> {
  const name = file === '-' ? 'standard input' : file;
  const content = await (file === '-' ? buffer(process.stdin) : readFile(file)).catch((error: Error) => {
    throw new Failure('failed', `${name} cannot be read: ${error.message}`);
  });
  return parseObject(asText(content, name), name);
}

/** What comes in by standard input. @throws Failure */
const piped = async (): Promise<string> => asText(await buffer(process.stdin), 'standard input');

/** Guessed at, a password of other bytes would be another one, and the same as many others. @throws Failure */
function asText(bytes: Uint8Array, name: string): string {
  const text = readUtf8(bytes);
  if (text === undefined) throw usage(`${name}: is not UTF-8`);
  return text;
}

/** A JSON object. @throws Failure */
export function parseObject(content: string, name: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw usage(`${name}: is not JSON (${(error as Error).message})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usage(`${name}: must be a JSON object`);
  return value as Record<string, unknown>;
}

/** The password that a program writes to standard input, without the end of its line. @throws Failure */
export async function readPassword(): Promise<string> {
  const password = (await piped()).replace(/\r?\n$/, '');
  if (password === '') throw usage('--password-stdin: there is no password on standard input');
  return password;
}

/** A token: the argument, or for `-` the one line of standard input. @throws Failure */
export async function readToken(argument: string): Promise<string> {
  const token = (argument === '-' ? await piped() : argument).trim();
  if (token === '') throw usage('there is no token on standard input');
  return token;
}

/** Is there somebody to ask? */
export const isInteractive = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Asks for a new password, twice, without showing it. Empty when the person gave none. @throws Failure */
export async function askPassword(): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  const lines = terminal[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    process.stderr.write(question);
    const { done, value } = await lines.next();
    process.stderr.write('\n');
    if (done) throw new Failure('failed', 'cancelled');
    // What a terminal in another encoding sends is read as this.
    if (value.includes('\u{FFFD}')) throw usage('the password is not UTF-8: look at the encoding of this terminal');
    return value;
  };
  try {
    const password = await ask('Password: ');
    if (password !== '' && (await ask('Again: ')) !== password) throw usage('the two passwords differ');
    return password;
  } finally {
    terminal.close();
  }
}
