/** The password as a factor. How it is proven is sign-in itself (users/sign-in.ts): the account is not known before. */
import * as users from '../../store/users.ts';
import type { Factor } from './factor.ts';

export const password: Factor = {
  amr: [['pwd']],
  first: true,
  second: false,
  enrols: false,
  async list({ db }, sub) {
    const changed_at = await users.passwordChangedAt(db, sub);
    return changed_at ? [{ factor: 'password', created_at: changed_at, used_at: null }] : [];
  },
};
