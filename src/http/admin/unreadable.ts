/** What the admin API answers to what is no request that it could read. */
import { Problem } from '../../admin/index.ts';
import { atAdminApi } from '../../protocol/admin-api.ts';
import { answerProblem, refusalOf } from '../problem.ts';
import type { OwnForm } from '../unreadable.ts';

/** The admin API's form of the errors that are answered before routing: malformed addresses, and what is not HTTP. */
export const unreadable = (deps: Parameters<typeof answerProblem>[0]): OwnForm => ({
  covers: atAdminApi(deps.config.ISSUER),
  answerUnreadableAddress(request, reply) {
    answerProblem(deps, new Problem('invalid', 'the address is malformed', { check: 'address' }), request, reply);
  },
  refuseUnreadable(status, sentence, why, request_id) {
    const problem = new Problem(status === 431 ? 'headers-too-large' : 'invalid', sentence, why);
    return { refusal: refusalOf(problem), type: 'application/problem+json', body: problem.document(request_id) };
  },
});
