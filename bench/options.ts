/** The command line of the benchmark. */
import { parseArgs } from 'node:util';

/** What is measured, and for how long. */
export interface Options {
  only: string[];
  rounds: number;
  seconds: number;
  connections: number;
  peer: boolean;
  /** Refresh tokens in the database before it begins. */
  rows: number;
  /** An empty and a full database beside each other, instead of ceiling and peer. */
  compareRows: boolean;
  profile: boolean;
  /** Of Postern's environment, beside what the benchmark sets. */
  set: Record<string, string>;
  /** Undefined: the better of those that are there. */
  tool: string | undefined;
  output: string;
  /** The lists of the admin API on a large database, instead of the scenarios. */
  admin: boolean;
  /** Tokens under a flood of wrong logins, instead of the scenarios. */
  flood: boolean;
}

const USAGE = `npm run bench -- [options]
  --only <scenario>   this one (repeatable); the names are those of the table in bench/scenarios/index.ts
  --rounds <n>        rounds of each scenario, interleaved; the median counts (5)
  --seconds <n>       length of a round (5)
  --connections <n>   connections that send one request after the other (32)
  --peer              oidc-provider beside us, with its data in memory
  --rows <n>          refresh tokens in the database beforehand, a tenth as many people: 500k, 10m
  --compare-rows      an empty database against one with --rows, in the same rounds
  --set NAME=value    a variable of Postern's environment (repeatable)
  --profile           write a CPU profile of each scenario and name the functions that cost most
  --tool <name>       wrk or autocannon (wrk where it is installed)
  --admin             the lists of the admin API instead: plans and times on a large database
  --flood             tokens under a flood of wrong logins instead
  --output <dir>      where the table, the figures and the plot go (bench/results)`;

const SUFFIXES: Record<string, number> = { '': 1, k: 1000, m: 1_000_000 };

function count(name: string, text: string): number {
  const [, digits, suffix] = /^(\d{1,9})([km]?)$/i.exec(text) ?? [];
  if (digits === undefined) throw new TypeError(`--${name} is ${text}: must be a number such as 20, 500k or 10m`);
  return Number(digits) * SUFFIXES[suffix!.toLowerCase()]!;
}

function assignment(entry: string): [name: string, value: string] {
  const [, name, value] = /^([A-Z_0-9]+)=(.*)$/.exec(entry) ?? [];
  if (name === undefined) throw new TypeError(`--set is ${entry}: must be NAME=value`);
  return [name, value!];
}

/** Reads the command line. @throws TypeError for what it does not know */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '5' },
      connections: { type: 'string', default: '32' },
      peer: { type: 'boolean', default: false },
      rows: { type: 'string', default: '0' },
      'compare-rows': { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      set: { type: 'string', multiple: true, default: [] },
      tool: { type: 'string' },
      output: { type: 'string', default: 'bench/results' },
      admin: { type: 'boolean', default: false },
      flood: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) throw new TypeError(USAGE);
  const rows = count('rows', values.rows);
  if (values['compare-rows'] && rows === 0) throw new TypeError('--compare-rows needs --rows, such as 10m');
  return {
    only: values.only.flatMap((names) => names.split(',')),
    rounds: Math.max(1, count('rounds', values.rounds)),
    seconds: Math.max(1, count('seconds', values.seconds)),
    connections: Math.max(1, count('connections', values.connections)),
    peer: values.peer,
    rows,
    compareRows: values['compare-rows'],
    profile: values.profile,
    set: Object.fromEntries(values.set.map((entry) => assignment(entry))),
    tool: values.tool,
    output: values.output,
    admin: values.admin,
    flood: values.flood,
  };
}
