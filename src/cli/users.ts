/** People: make, list, show, change, disable and remove accounts, and set passwords. Hashes are never shown. */
import { Option } from 'commander';
import type { Deps } from '../deps.ts';
import type { Actor } from '../events/index.ts';
import { personClaims, type PersonClaims } from '../protocol/claims.ts';
import * as store from '../store/users.ts';
import { revokeEverything, signOutEverywhere, type Ended } from '../users/access.ts';
import {
  AccountProblem,
  createAccount,
  describeAccount,
  removeAccount,
  setDisabled,
  setPassword,
  updateAccount,
  type AccountChanges,
} from '../users/accounts.ts';
import { BY } from './actor.ts';
import type { Answer, Group, Leaf, Opened } from './command.ts';
import { notFound, usage, zodProblems } from './failure.ts';
import { askPassword, isInteractive, parseObject, readPassword } from './input.ts';
import { listOptions, readPages, type ListOptions } from './list.ts';
import { record, table } from './output.ts';

interface AccountOptions {
  username?: string;
  email?: string | false;
  emailVerified?: boolean;
  claims?: string;
}

const accountOptions = (): Option[] => [
  new Option('--username <name>', 'what the person signs in with'),
  new Option('--email <address>', 'e-mail address; the person may sign in with it too'),
  new Option('--email-verified', 'the address is known to be theirs'),
  new Option('--claims <json>', 'claims about the person, e.g. {"name":"Ada Lovelace","groups":["staff"]}'),
];
const passwordOption = (): Option => new Option('--password-stdin', 'read the password from standard input');

const create: Leaf<
  AccountOptions & { passwordStdin?: boolean; password?: boolean; sub?: string; ifNotExists?: boolean }
> = {
  summary: 'make an account',
  options: () => [
    ...accountOptions(),
    passwordOption(),
    new Option('--no-password', 'make it without a password, and do not ask for one'),
    new Option('--sub <sub>', 'its subject identifier, instead of a random one'),
    new Option('--if-not-exists', 'answer with the account that has this username, unchanged'),
  ],
  explanation:
    'On a terminal the password is asked for. Without one, and without --password-stdin, the account has none yet.',
  examples: [
    'users create --username ada --email ada@example.com',
    'users create --username ada --email ada@example.com --email-verified --password-stdin --json < password.txt',
    `users create --username bob --claims '{"name":"Bob Noyce","groups":["staff"]}'`,
  ],
  async run({ open }, { options }) {
    const { username, email, emailVerified, sub } = options;
    if (username === undefined) throw usage('--username is missing');
    const claims = readClaims(options.claims);
    const password = await newPassword(options);
    const account = {
      username,
      sub,
      password,
      ...(typeof email === 'string' && { email }),
      ...(emailVerified !== undefined && { email_verified: emailVerified }),
      ...(claims && { claims }),
    };
    return open(async ({ deps }) => {
      try {
        return answerOf(await createAccount(deps, account, BY, deps.clock()));
      } catch (error) {
        if (!options.ifNotExists || !(error instanceof AccountProblem) || error.reason !== 'taken') throw error;
        const present = await store.findByName(deps.db, username);
        if (!present) throw error;
        return answerOf(present);
      }
    });
  },
};

const list: Leaf<ListOptions> = {
  summary: 'list accounts by sub',
  options: listOptions,
  examples: ['users list', 'users list --limit 20 --json'],
  run: ({ open }, { options }) =>
    open(async ({ deps }) => {
      const rows = await readPages(
        options,
        (limit, after) => store.list(deps.db, limit, after),
        ({ sub }) => sub,
      );
      return {
        json: rows.map(describeAccount),
        ids: rows.map(({ sub }) => sub),
        text: table(
          ['SUB', 'USERNAME', 'EMAIL', 'STATE'],
          rows.map((row) => [row.sub, row.username, row.email, row.disabled_at === null ? 'active' : 'disabled']),
          'There are no accounts yet: postern users create',
        ),
      };
    }),
};

const get: Leaf = {
  summary: 'show an account',
  argument: '<user>',
  examples: ['users get ada', 'users get ada@example.com --json'],
  run: ({ open }, { argument }) => open(async ({ deps }) => answerOf(await findUser(deps, argument))),
};

const update: Leaf<AccountOptions> = {
  summary: 'change what is named of an account; the rest stays',
  argument: '<user>',
  options: () => [
    ...accountOptions(),
    new Option('--no-email', 'take the address away'),
    new Option('--no-email-verified', 'the address may not be theirs'),
  ],
  explanation: 'Claims replace all claims before them. A new address is not verified unless --email-verified is given.',
  examples: ['users update ada --email ada@example.org --email-verified'],
  run({ open }, { argument, options: { username, email, emailVerified, claims } }) {
    const changes: AccountChanges = {
      ...(username !== undefined && { username }),
      ...(email !== undefined && { email: email === false ? null : email }),
      ...(emailVerified !== undefined && { email_verified: emailVerified }),
      ...(claims !== undefined && { claims: readClaims(claims)! }),
    };
    if (Object.keys(changes).length === 0) throw usage('there is nothing to change: give an option');
    return changing(open, argument, async (deps, sub, now) => !!(await updateAccount(deps, sub, changes, BY, now)));
  },
};

const password: Leaf<{ passwordStdin?: boolean }> = {
  summary: 'set a password, and end every session and authorization made under the old one',
  argument: '<user>',
  options: () => [passwordOption()],
  examples: ['users set-password ada', 'users set-password ada --password-stdin < password.txt'],
  async run({ open }, { argument, options }) {
    const given = await newPassword(options);
    if (given === undefined) throw usage('give the password with --password-stdin: there is no terminal to ask on');
    return changing(open, argument, (deps, sub, now) => setPassword(deps, sub, given, BY, now));
  },
};

const disable: Leaf = {
  summary: 'keep an account from signing in, and end its sessions and authorizations',
  argument: '<user>',
  examples: ['users disable ada'],
  run: ({ open }, { argument }) => changing(open, argument, (deps, sub, now) => setDisabled(deps, sub, true, BY, now)),
};

const enable: Leaf = {
  summary: 'let a disabled account sign in again',
  argument: '<user>',
  examples: ['users enable ada'],
  run: ({ open }, { argument }) => changing(open, argument, (deps, sub, now) => setDisabled(deps, sub, false, BY, now)),
};

const signOut: Leaf = {
  summary: 'end all sessions of a person, and what was granted under them, but for grants with offline_access',
  argument: '<user>',
  examples: ['users sign-out ada'],
  run: ({ open }, { argument }) => ending(open, argument, signOutEverywhere),
};

const revoke: Leaf = {
  summary: 'end all sessions and grants of a person, offline ones too, and withdraw all consents; the account stays',
  argument: '<user>',
  examples: ['users revoke-everything ada'],
  run: ({ open }, { argument }) => ending(open, argument, revokeEverything),
};

const remove: Leaf = {
  summary: 'delete an account; its sub is never given out again',
  argument: '<user>',
  examples: ['users delete ada'],
  run: ({ open }, { argument }) =>
    open(async ({ deps }) => {
      const { sub, username } = await findUser(deps, argument);
      if (!(await removeAccount(deps, sub, BY, deps.clock()))) throw unknown(argument);
      return { json: { sub, deleted: true }, ids: [sub], text: `Account ${username} (${sub}) is deleted.` };
    }),
};

/** Does something to the account that is meant, and answers with what it is afterwards. */
function changing(
  open: <T>(work: (opened: Opened) => Promise<T>) => Promise<T>,
  name: string,
  change: (deps: Deps, sub: string, now: Date) => Promise<boolean>,
): Promise<Answer> {
  return open(async ({ deps }) => {
    const { sub } = await findUser(deps, name);
    if (!(await change(deps, sub, deps.clock()))) throw unknown(name);
    return answerOf(await findUser(deps, sub));
  });
}

/** Ends what hangs off an account, and answers with how much it was. */
const ending = (
  open: <T>(work: (opened: Opened) => Promise<T>) => Promise<T>,
  name: string,
  end: (deps: Deps, sub: string, by: Actor, now: Date) => Promise<Ended | undefined>,
): Promise<Answer> =>
  open(async ({ deps }) => {
    const { sub } = await findUser(deps, name);
    const ended = await end(deps, sub, BY, deps.clock());
    if (!ended) throw unknown(name);
    const json = { sub, ...ended };
    return { json, ids: [sub], text: record(json, ['sub']) };
  });

const unknown = (name: string): Error => notFound(`there is no account ${name}`);

/** By sub, username or e-mail address. @throws Failure */
export async function findUser({ db }: Pick<Deps, 'db'>, name: string): Promise<store.User> {
  const user = (await store.find(db, name)) ?? (await store.findByName(db, name));
  if (!user) throw unknown(name);
  return user;
}

async function newPassword(options: { passwordStdin?: boolean; password?: boolean }): Promise<string | undefined> {
  if (options.passwordStdin) return readPassword();
  if (options.password === false || !isInteractive()) return undefined;
  const given = await askPassword();
  return given === '' ? undefined : given;
}

function readClaims(json: string | undefined): PersonClaims | undefined {
  if (json === undefined) return undefined;
  const result = personClaims.safeParse(parseObject(json, 'claims'));
  if (!result.success) throw usage(...zodProblems(result.error, ['claims']));
  return result.data;
}

function answerOf(user: store.User): Answer {
  const json = describeAccount(user);
  return { json, ids: [user.sub], text: record(json, ['sub']) };
}

export const users: Group = {
  summary: 'people who sign in',
  commands: {
    create,
    list,
    get,
    update,
    delete: remove,
    'set-password': password,
    disable,
    enable,
    'sign-out': signOut,
    'revoke-everything': revoke,
  },
};
