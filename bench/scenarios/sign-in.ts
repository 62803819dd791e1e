/** A person's name and password, as a script sends them: argon2id bounds it, and is meant to. */
import { FORM, form, type Scenario } from '../scenario.ts';
import { PASSWORD, USERNAME } from '../world.ts';
import { has } from './checks.ts';

/** The peer leaves passwords to others. */
export const signIn: Scenario = {
  title: 'password sign-in',
  ceiling: 'form',
  postern: async () => ({
    shot: {
      method: 'POST',
      path: '/login',
      headers: { ...FORM, accept: 'application/json' },
      body: form({ username: USERNAME, password: PASSWORD }),
    },
  }),
  check: (body) => has(body, 'access_token'),
};
