/** The admin API on the database itself: the same operations, without a server. */
import { operations, perform, problemOf, type Operation } from '../admin/index.ts';
import type { Deps } from '../deps.ts';
import { createSecrets } from '../keys/secrets.ts';
import { BY } from './actor.ts';
import { apiOf, type Api } from './api.ts';
import { refused } from './failure.ts';

const byName: ReadonlyMap<string, Operation> = new Map(
  operations.map((operation) => [`${operation.method} ${operation.path}`, operation]),
);

/** The API on what was opened. */
export function localApi(deps: Deps): Api {
  // Cursors are sealed. They do not leave this process, so listing needs no key of the server.
  const { config, random } = deps;
  const cursors =
    config.SECRET_KEYS.length > 0 ? deps.secrets : createSecrets([random(32).toString('base64url')], random);
  return apiOf(async (name, { ids = {}, query = {}, body, present }) => {
    const operation = byName.get(name);
    if (!operation) throw new Error(`there is no operation ${name}`);
    const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
    const request = { ids, query: given, body, ...(present && { if_match: ['*'] }) };
    const used = operation.kind === 'list' ? { ...deps, secrets: cursors } : deps;
    try {
      // As it would have come over the wire, and as it would be answered.
      const answer = await perform(used, operation, json(request), BY, deps.clock());
      return json(answer.body) ?? {};
    } catch (error) {
      throw failureFrom(error);
    }
  });
}

/** What the parties refuse with, as a failure; anything else as it is. */
export function failureFrom(thrown: unknown): unknown {
  const problem = problemOf(thrown);
  return problem ? refused(problem) : thrown;
}

const json = <T>(value: T): T => (value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T));
