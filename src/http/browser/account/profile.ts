/** /account/profile: what people say of themselves. */
import type { FastifyInstance } from 'fastify';
import { languages } from '../../../languages/index.ts';
import { LANGUAGES } from '../../../languages/index.ts';
import { isProfileClaim } from '../../../protocol/claims.ts';
import { textOf } from '../../../protocol/parameters.ts';
import { profileOf, updateProfile } from '../../../users/profile.ts';
import { profilePage } from '../../../views/account/profile.ts';
import { requesterOf } from '../../request.ts';
import type { Context } from '../context.ts';
import { accountDoor } from './door.ts';

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => [zone, zone] as const);
const choices = { locale: languages.map((tag) => [tag, LANGUAGES[tag]] as const), zoneinfo: zones };

export function profile(app: FastifyInstance, context: Context): void {
  const { deps } = context;
  accountDoor(app, context, 'profile', {
    async show({ user, form }, { again, done }) {
      const fields = profileOf(deps, user).map(({ name, value }) => ({
        name,
        value: (again && textOf(again.form, name)) ?? value,
        choices: name === 'locale' || name === 'zoneinfo' ? choices[name] : undefined,
      }));
      const wrong = again?.field;
      return (frame) => profilePage({ frame, ...form, fields, wrong, done });
    },
    async take({ session, now, user }, form, request, reply) {
      const changes = Object.fromEntries(
        deps.config.PROFILE_CLAIMS.flatMap((name) => {
          const value = textOf(form, name);
          return value === undefined ? [] : [[name, value]];
        }),
      );
      const changed = await updateProfile(deps, session.sub, changes, requesterOf(request), now);
      const [field] = changed && 'problems' in changed ? Object.keys(changed.problems) : [];
      if (field !== undefined && isProfileClaim(field)) return { problem: 'invalid', field };
      // The switch of a page comes before the profile: whoever chooses here has spoken last.
      const chosen = changes['locale'];
      if (chosen !== undefined && chosen !== (user.claims['locale'] ?? '')) context.cookies.clear(reply, 'language');
      return { to: 'profile', done: 'saved' };
    },
  });
}
