/** Invitations by address: one operation that makes the account where there is none, and sends its person a link. */
import { z } from 'zod';
import { inviteAddress, type Invitation } from '../users/invitations.ts';
import { collectionOf, type Call } from './api/collection.ts';
import { Problem } from './api/problem.ts';

/** What became of an invitation, as it is answered. */
export const invitationMembers = {
  invited: z.boolean().describe('Not who can sign in already'),
  mailed: z.boolean().describe('There is mail, and the link is in the outbox'),
  expires_at: z.iso.datetime().optional(),
  url: z.string().optional().describe('The link, where it was asked for: shown once'),
};

export const invitationOf = ({ invited, mailed, expires_at, url }: Invitation) => ({
  invited,
  mailed,
  ...(expires_at && { expires_at: expires_at.toISOString() }),
  ...(url !== undefined && { url }),
});

const GROUPS = 'groups:write';

/** Who is in a group is what a token for groups changes. @throws Problem forbidden */
function refuseGroups({ token_scope }: Pick<Call, 'token_scope'>, groups: readonly string[] | undefined): void {
  if (token_scope === undefined || token_scope.includes(GROUPS) || !groups?.length) return;
  throw new Problem('forbidden', `to put somebody into groups the access token needs ${GROUPS}`, {
    expected: GROUPS,
    received: token_scope.join(' '),
  });
}

const collection = collectionOf({
  noun: 'invitation',
  summary: 'invitations',
  path: '/invitations',
  subject: 'users',
  item: z.strictObject({
    sub: z.string(),
    username: z.string(),
    email: z.string(),
    created: z.boolean().describe('The account was made for it'),
    ...invitationMembers,
  }),
});

export const invitations = collection.with({
  create: collection.create({
    summary:
      'Invite whoever has an address, with an account that is made where there is none; again before they came, it sends another link',
    body: z.strictObject({
      email: z.string().max(500),
      username: z.string().max(500).optional().describe('Of a new account, instead of what stands before the @'),
      name: z.string().min(1).max(500).optional().describe('Of a new account'),
      groups: z
        .array(z.string().max(200))
        .max(50)
        .optional()
        .describe('Names of groups that they are put into; needs groups:write as well'),
      link: z.boolean().optional().describe('Show the link as well, to hand it on'),
    }),
    once: ['url'],
    async run(call, _ids, body) {
      refuseGroups(call, body.groups);
      const { user, created, ...made } = await inviteAddress(call.trx, call.deps, body, call.by, call.now);
      const { sub, username, email } = user;
      return { sub, username, email: email ?? body.email, created, ...invitationOf(made) };
    },
  }),
});
