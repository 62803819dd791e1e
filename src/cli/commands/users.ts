/** People: make, list, show, change, disable and remove accounts, and set passwords. Hashes are never shown. */
import { Option } from 'commander';
import { personClaims, type PersonClaims } from '../../protocol/claims.ts';
import type { CallAnswer } from '../../admin/api/calls.ts';
import { everything, orUndefined, type Api, type Item } from '../api.ts';
import { BY } from '../actor.ts';
import type { Answer, Group, Leaf, CommandContext } from '../command.ts';
import { Failure, notFound, usage, zodProblems } from '../failure.ts';
import { askPassword, isInteractive, parseObject, readPassword } from '../input.ts';
import { listOptions, readList, type ListOptions } from '../list.ts';
import { record, table } from '../output.ts';
import { invite, sendVerification } from './users-invite.ts';
import { importUsers } from './users-import.ts';

type User = CallAnswer<'GET /users/{sub}'>;

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
  async run({ api }, { options }) {
    const { username, email, emailVerified, sub } = options;
    if (username === undefined) throw usage('--username is missing');
    const claims = readClaims(options.claims);
    const password = await newPassword(options);
    const body = {
      username,
      sub,
      password,
      ...(typeof email === 'string' && { email }),
      ...(emailVerified !== undefined && { email_verified: emailVerified }),
      ...(claims && { claims }),
    };
    return api(async (to) => {
      try {
        return answerOf(await to.call('POST /users', { body }));
      } catch (error) {
        if (!options.ifNotExists || !(error instanceof Failure) || error.error !== 'conflict') throw error;
        const present = await findByName(to, username);
        if (!present) throw error;
        return answerOf(present);
      }
    });
  },
};

const list: Leaf<ListOptions> = {
  summary: 'list accounts, newest first',
  options: listOptions,
  examples: ['users list', 'users list --limit 20 --json'],
  run: ({ api }, { options }) =>
    api(async (to) => {
      const rows = await readList(to, 'GET /users', 'sub', options);
      return {
        json: rows,
        ids: rows.map(({ sub }) => sub),
        text: table(
          ['SUB', 'USERNAME', 'EMAIL', 'STATE'],
          rows.map((row) => [row.sub, row.username, row.email, row.disabled ? 'disabled' : 'active']),
          'There are no accounts yet: postern users create',
        ),
      };
    }),
};

const get: Leaf = {
  summary: 'show an account',
  argument: '<user>',
  examples: ['users get ada', 'users get ada@example.com --json'],
  run: ({ api }, { argument }) =>
    api(async (to) => {
      const { sub } = await findUser(to, argument);
      // A list does not say who is invited.
      return answerOf(await to.call('GET /users/{sub}', { ids: { sub } }));
    }),
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
  run({ api }, { argument, options: { username, email, emailVerified, claims } }) {
    const body: Item = {
      ...(username !== undefined && { username }),
      ...(email !== undefined && { email: email === false ? null : email }),
      ...(emailVerified !== undefined && { email_verified: emailVerified }),
      ...(claims !== undefined && { claims: readClaims(claims)! }),
    };
    if (Object.keys(body).length === 0) throw usage('there is nothing to change: give an option');
    return api(async (to) => {
      const { sub } = await findUser(to, argument);
      return answerOf(await to.call('PATCH /users/{sub}', { ids: { sub: sub }, body }));
    });
  },
};

const password: Leaf<{ passwordStdin?: boolean; random?: boolean }> = {
  summary: 'set a password, and end every session and authorization made under the old one',
  argument: '<user>',
  options: () => [
    passwordOption(),
    new Option('--random', 'let the server draw one for a first sign-in, shown once, now'),
  ],
  explanation: 'A server elsewhere (--url) sets no password that somebody knows: it draws one.',
  examples: [
    'users set-password ada',
    'users set-password ada --password-stdin < password.txt',
    'users set-password ada --random',
  ],
  async run(means, { argument, options }) {
    if (options.random) return randomPassword(means, argument);
    if (means.access) throw usage('with --url a password is drawn by the server: give --random');
    const given = await newPassword(options);
    if (given === undefined) throw usage('give the password with --password-stdin: there is no terminal to ask on');
    const [{ setPassword }, { failureFrom }] = await Promise.all([
      import('../../users/accounts.ts'),
      import('../local.ts'),
    ]);
    return means.api(async (to, deps) => {
      const { sub } = await findUser(to, argument);
      const set = setPassword(deps!, sub, given, BY, deps!.clock()).catch((error: unknown) => {
        throw failureFrom(error);
      });
      if (!(await set)) throw unknown(argument);
      return answerOf(await findUser(to, sub));
    });
  },
};

const randomPassword = ({ api }: CommandContext, name: string): Promise<Answer> =>
  api(async (to) => {
    const { sub } = await findUser(to, name);
    const { password: drawn, expires_at } = await to.call('POST /users/{sub}/set-password', { ids: { sub: sub } });
    const json = { sub, password: drawn, expires_at };
    const notes = [
      'The password is shown this once: only its hash is kept. Whoever signs in with it chooses another first.',
    ];
    return { json, ids: [drawn ?? ''], text: record(json, ['password']), notes };
  });

const disable: Leaf = {
  summary: 'keep an account from signing in, and end its sessions and authorizations',
  argument: '<user>',
  examples: ['users disable ada'],
  run: ({ api }, { argument }) => api((to) => able(to, argument, 'disable')),
};

const enable: Leaf = {
  summary: 'let a disabled account sign in again',
  argument: '<user>',
  examples: ['users enable ada'],
  run: ({ api }, { argument }) => api((to) => able(to, argument, 'enable')),
};

async function able(to: Api, name: string, action: 'disable' | 'enable'): Promise<Answer> {
  const sub = (await findUser(to, name)).sub;
  await to.call(`POST /users/{sub}/${action}`, { ids: { sub } });
  return answerOf(await findUser(to, sub));
}

const reset: Leaf = {
  summary: 'take all second factors of a person away who lost them, and end all sessions and authorizations',
  argument: '<user>',
  explanation:
    'Make sure that it is them who asks. Where a second factor is required they set one up at the next sign-in.',
  examples: ['users reset-factors ada'],
  run: ({ api }, { argument }) => api((to) => ending(to, argument, 'reset-factors')),
};

const signOut: Leaf = {
  summary: 'end all sessions of a person, and what was granted under them, but for grants with offline_access',
  argument: '<user>',
  examples: ['users sign-out ada'],
  run: ({ api }, { argument }) => api((to) => ending(to, argument, 'sign-out')),
};

const revoke: Leaf = {
  summary: 'end all sessions and grants of a person, offline ones too, and withdraw all consents; the account stays',
  argument: '<user>',
  examples: ['users revoke-everything ada'],
  run: ({ api }, { argument }) => api((to) => ending(to, argument, 'revoke-everything')),
};

/** Ends what hangs off an account, and answers with how much it was. */
async function ending(
  to: Api,
  name: string,
  action: 'sign-out' | 'revoke-everything' | 'reset-factors',
): Promise<Answer> {
  const sub = (await findUser(to, name)).sub;
  const json = { sub, ...(await to.call(`POST /users/{sub}/${action}`, { ids: { sub } })) };
  return { json, ids: [sub], text: record(json, ['sub']) };
}

const consents: Leaf = {
  summary: 'list what a person has agreed to, client by client',
  argument: '<user>',
  examples: ['users consents ada'],
  run: ({ api }, { argument }) =>
    api(async (to) => {
      const sub = (await findUser(to, argument)).sub;
      const rows = await everything(to, 'GET /users/{sub}/consents', { ids: { sub } });
      return {
        json: rows,
        ids: rows.map(({ client_id }) => client_id),
        text: table(
          ['CLIENT', 'NAME', 'AGREED TO'],
          rows.map((row) => [
            row.client_id,
            row.client_name,
            (row.agreed as Item[]).map(({ scope }) => scope).join(' '),
          ]),
          'There are none.',
        ),
      };
    }),
};

const withdraw: Leaf<{ client?: string }> = {
  summary: 'take back what a person agreed to for a client: they are asked again',
  argument: '<user>',
  options: () => [new Option('--client <client_id>', 'which client').makeOptionMandatory()],
  examples: ['users withdraw-consent ada --client shop'],
  run: ({ api }, { argument, options: { client: client_id = '' } }) =>
    api(async (to) => {
      const sub = (await findUser(to, argument)).sub;
      const request = { ids: { sub, client_id }, present: true };
      const done = await orUndefined(to.call('DELETE /users/{sub}/consents/{client_id}', request));
      if (!done) throw notFound(`${argument} has agreed to nothing for ${client_id}`);
      return { json: { sub, client_id, withdrawn: true }, ids: [client_id], text: 'The consent is withdrawn.' };
    }),
};

const remove: Leaf = {
  summary: 'delete an account; its sub is never given out again',
  argument: '<user>',
  examples: ['users delete ada'],
  run: ({ api }, { argument }) =>
    api(async (to) => {
      const user = await findUser(to, argument);
      const sub = user.sub;
      const done = await orUndefined(to.call('DELETE /users/{sub}', { ids: { sub }, present: true }));
      if (!done) throw unknown(argument);
      return {
        json: { sub, deleted: true },
        ids: [sub],
        text: `Account ${user.username} (${sub}) is deleted.`,
      };
    }),
};

const unknown = (name: string): Error => notFound(`there is no account ${name}`);

/** By sub, username or e-mail address. @throws Failure */
export async function findUser(to: Api, name: string): Promise<User> {
  const user = (await orUndefined(to.call('GET /users/{sub}', { ids: { sub: name } }))) ?? (await findByName(to, name));
  if (!user) throw unknown(name);
  return user;
}

async function findByName(to: Api, name: string): Promise<User | undefined> {
  for (const parameter of ['username', 'email']) {
    const [user] = await everything(to, 'GET /users', { query: { [parameter]: name } }, 1);
    if (user) return user;
  }
  return undefined;
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

const answerOf = (user: User): Answer => ({ json: user, ids: [user.sub], text: record(user, ['sub']) });

export const users: Group = {
  summary: 'people who sign in',
  commands: {
    create,
    import: importUsers,
    list,
    get,
    update,
    delete: remove,
    'set-password': password,
    invite,
    'send-verification': sendVerification,
    disable,
    enable,
    'reset-factors': reset,
    'sign-out': signOut,
    'revoke-everything': revoke,
    consents,
    'withdraw-consent': withdraw,
  },
};
