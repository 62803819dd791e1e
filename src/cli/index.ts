/** The command line: a table of commands. Doors only: what they do is the flows' and the parties'. */
import { styleText } from 'node:util';
import { Command, CommanderError, Option } from 'commander';
import { readDotEnv, remoteVariables, version } from '../config.ts';
import { audit } from './commands/audit.ts';
import { authorizationTypes } from './commands/authorization-types.ts';
import { clients } from './commands/clients.ts';
import type { Answer, Leaf, CommandContext, Process } from './command.ts';
import { completionOf, type Commands } from './commands/completion.ts';
import { config } from './commands/config.ts';
import { dev } from './commands/dev.ts';
import { doctor } from './commands/doctor.ts';
import { explain } from './commands/explain.ts';
import { failureOf, usage, type Failure } from './failure.ts';
import { grants } from './commands/grants.ts';
import { groups } from './commands/groups.ts';
import { keys } from './commands/keys.ts';
import { logoutNotices } from './commands/logout-notices.ts';
import { mail } from './commands/mail.ts';
import { migrate } from './commands/migrate.ts';
import { registrationTokens } from './commands/registration-tokens.ts';
import { accessOf, remoteApi } from './remote.ts';
import { resources } from './commands/resources.ts';
import { roles } from './commands/roles.ts';
import { scopes } from './commands/scopes.ts';
import { serve } from './commands/serve.ts';
import { sessions } from './commands/sessions.ts';
import { settings } from './commands/settings.ts';
import { tokens } from './commands/tokens.ts';
import { upstreams } from './commands/upstreams.ts';
import { users } from './commands/users.ts';

export type { Opened, Process } from './command.ts';

const commands: Commands = {
  dev,
  serve,
  migrate,
  config,
  clients,
  users,
  groups,
  roles,
  sessions,
  grants,
  tokens,
  scopes,
  resources,
  'authorization-types': authorizationTypes,
  upstreams,
  keys,
  'registration-tokens': registrationTokens,
  'logout-notices': logoutNotices,
  mail,
  audit,
  settings,
  explain,
  doctor,
  completion: completionOf(() => commands, globalOptions),
};

function globalOptions(): Option[] {
  return [
    new Option('--url <issuer>', 'speak to the server at this issuer, instead of the database'),
    new Option('--token-file <path>', 'with --url: the file that holds the access token'),
  ];
}

const NAME = 'postern';
const EXIT_CODES = `Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 not allowed, 78 wrong configuration`;

/** Runs one command; returns the exit code, or undefined for a server, which goes on running. */
export async function run(args: readonly string[], process_: Process): Promise<number | undefined> {
  let exit_code: number | undefined;
  const program = programOf(process_, (answer, options) => {
    print(answer, options);
    exit_code = answer.exit_code ?? 0;
  });
  try {
    readDotEnv();
    await program.parseAsync(args, { from: 'user' });
    return exit_code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    // The library has printed the help that was missing a command.
    if (error instanceof CommanderError && error.code === 'commander.help') return 2;
    const failure = await failureOf(error);
    complain(failure, args.includes('--json'));
    return failure.exit_code;
  }
}

interface GlobalOptions {
  url?: string;
  tokenFile?: string;
  json?: boolean;
  quiet?: boolean;
}
type Finish = (answer: Answer, options: GlobalOptions) => void;

function programOf(process_: Process, finish: Finish): Command {
  const program = new Command(NAME)
    .description('Postern, an OAuth 2.0 and OpenID Connect authorization server')
    .version(version(), '-V, --version', 'print the version')
    .exitOverride()
    // Usage errors are printed like all others.
    .configureOutput({ outputError: () => {} })
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', `\n${EXIT_CODES}\nEvery command has --help, with examples, and --json.`);
  for (const option of globalOptions()) program.addOption(option);
  for (const [name, row] of Object.entries(commands)) {
    const command = program.command(name).description(row.summary);
    if ('run' in row) {
      fill(command, row, process_, finish);
      continue;
    }
    if (row.own) fill(command, row.own, process_, finish);
    for (const [sub, leaf] of Object.entries(row.commands)) {
      fill(command.command(sub).description(leaf.summary), leaf, process_, finish);
    }
  }
  return program;
}

function fill(command: Command, leaf: Leaf, process_: Process, finish: Finish): void {
  const { argument, options = () => [], examples = [], explanation } = leaf;
  if (argument !== undefined) command.argument(argument);
  for (const option of options()) command.addOption(option);
  command.option('--json', 'answer in JSON').option('-q, --quiet', 'answer with ids only');
  if (explanation !== undefined) command.addHelpText('after', `\n${explanation}`);
  if (examples.length > 0) {
    command.addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${NAME} ${example}`).join('\n')}`);
  }
  command.action(async (...given: unknown[]) => {
    // A subject that does something alone has the same options, and the library gives them to it.
    const chosen = command.optsWithGlobals<GlobalOptions>();
    const first = argument !== undefined && typeof given[0] === 'string' ? given[0] : '';
    const notes: string[] = [];
    const answer = await leaf.run(contextOf(leaf, process_, chosen, notes), { argument: first, options: chosen });
    if (answer) finish({ ...answer, notes: [...(answer.notes ?? []), ...notes] }, chosen);
  });
}

/** What a command works with: what was handed in, or a server elsewhere. @throws Failure for one that cannot be there */
function contextOf(leaf: Leaf, process_: Process, options: GlobalOptions, notes: string[]): CommandContext {
  if (leaf.here && options.url !== undefined)
    throw usage('this command has nothing to do with a server: leave out --url');
  const access = leaf.here ? undefined : accessOf(options, remoteVariables());
  if (!access) {
    return {
      ...process_,
      access,
      api: async (work) => {
        // With every room behind it, which commands for a server elsewhere do without.
        const { localApi } = await import('./local.ts');
        return process_.open(({ deps }) => work(localApi(deps), deps));
      },
    };
  }
  const refuse = (): Promise<never> =>
    Promise.reject(usage('this command works on the database itself: leave out --url (and POSTERN_URL)'));
  return {
    ...process_,
    access,
    start: options.url === undefined ? process_.start : refuse,
    open: refuse,
    async api(work) {
      const api = remoteApi(access, process_.reach);
      const done = await work(api, undefined);
      notes.push(...api.notes);
      return done;
    },
  };
}

function print({ json, ids, text, notes = [] }: Answer, { json: asJson, quiet }: GlobalOptions): void {
  const output = quiet ? ids.join('\n') : asJson ? JSON.stringify(json, undefined, 2) : text;
  if (output !== '') process.stdout.write(`${output}\n`);
  if (quiet || asJson) return;
  for (const note of notes) process.stderr.write(`${note}\n`);
}

function complain({ error, message, problems }: Failure, asJson: boolean): void {
  if (asJson) {
    process.stderr.write(`${JSON.stringify({ error, message, ...(problems.length > 1 && { problems }) })}\n`);
    return;
  }
  const mark = styleText('red', 'error:', { stream: process.stderr });
  for (const problem of problems) process.stderr.write(`${mark} ${problem}\n`);
}
