/** `npm run drill -- <fault>`: carries out one fault, or `all` that this machine can, and fails on any wrong answer. */
import { parseArgs } from 'node:util';
import { stopServers } from '../support/server.ts';
import { drill } from './drill.ts';
import type { Fault } from './fault.ts';
import { faults } from './faults/index.ts';
import type { Findings } from './ledger.ts';

const all: Readonly<Record<string, Fault>> = faults;

/** One line of a table in Markdown. */
const rowOf = (name: string, { wrong, answered, away, unknown, askedAgain, slowest, longestGap }: Findings): string =>
  `| ${[name, answered, away, unknown, askedAgain, slowest, longestGap, wrong.length].join(' | ')} |`;

const HEAD = [
  '| fault | answered | 503 | no answer | codes asked for again | slowest answer, ms | longest time without a 200, ms | wrong |',
  '|---|---|---|---|---|---|---|---|',
];

async function list(): Promise<void> {
  for (const [name, { sentence, seconds, lacks }] of Object.entries(all)) {
    const missing = await lacks?.();
    console.log(`${name.padEnd(22)} ${sentence} (${seconds} s)${missing === undefined ? '' : `; needs ${missing}`}`);
  }
}

async function carryOut(
  names: readonly string[],
  how: { seconds: number | undefined; chains: number },
): Promise<boolean> {
  const rows: string[] = [];
  let isRight = true;
  for (const name of names) {
    const fault = all[name]!;
    const missing = await fault.lacks?.();
    if (missing !== undefined) {
      console.log(`${name}: not carried out, it needs ${missing}`);
      if (names.length === 1) isRight = false;
      continue;
    }
    const findings = await drill(fault, { ...how, say: (line) => console.log(`${name}: ${line}`) });
    rows.push(rowOf(name, findings));
    for (const sentence of findings.wrong) console.log(`${name}: ${fault.loses ? 'LOST' : 'WRONG'}: ${sentence}`);
    if (findings.wrong.length > 0 && !fault.loses) isRight = false;
  }
  console.log([...HEAD, ...rows].join('\n'));
  return isRight;
}

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string' }, chains: { type: 'string', default: '30' } },
  allowPositionals: true,
});
const [name] = positionals;
if (name === undefined) await list();
else if (name !== 'all' && !Object.hasOwn(all, name)) {
  console.error(`there is no fault ${name}: one of all, ${Object.keys(all).join(', ')}`);
  process.exitCode = 2;
} else {
  const seconds = values.seconds === undefined ? undefined : Number(values.seconds);
  const isRight = await carryOut(name === 'all' ? Object.keys(all) : [name], {
    seconds,
    chains: Number(values.chains),
  });
  await stopServers();
  if (!isRight) process.exitCode = 1;
}
