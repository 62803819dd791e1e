import { plain } from '../client.ts';
import { hidden } from '../form.ts';
import { html, type Html } from '../html.ts';
import { moment } from '../moment.ts';
import { accountPage, type AccountFrame } from './frame.ts';

const sentences = {
  lead: 'Something you don’t know? End it, and change your password.',
  unknown: 'An unknown device',
  script: 'A program that signed in with your password',
  this_one: 'This one',
  signed_in: 'Signed in',
  seen: 'Last seen',
  network: 'From the network',
  end: 'End this session',
  sign_out: 'Sign out here',
  end_others: 'End all other sessions',
  done: {
    ended: 'That session has ended.',
    others: 'All other sessions have ended.',
    gone: 'That session was over already.',
  },
};

export type SessionsPageProps = {
  frame: AccountFrame;
  action: string;
  form_token: string;
  sessions: ReadonlyArray<{
    sid: string;
    kind: 'browser' | 'login';
    program: string;
    system: string;
    network: string | null;
    auth_time: Date | string;
    seen_at: Date | string;
  }>;
  /** The sid of the session that looks at the page. */
  current: string;
  logout_url: string;
  done?: string | undefined;
};

export function sessionsPage({
  frame,
  action,
  form_token,
  sessions,
  current,
  logout_url,
  done,
}: SessionsPageProps): Html {
  const sorted = sessions.toSorted((a, b) => Number(b.sid === current) - Number(a.sid === current));
  const item = (session: SessionsPageProps['sessions'][number]) =>
    html`<li>
      <h2>${deviceName(session)} ${session.sid === current && html`<span class="new">${sentences.this_one}</span>`}</h2>
      <dl>
        <dt>${sentences.signed_in}</dt>
        <dd>${moment(session.auth_time, frame.lang)}</dd>
        <dt>${sentences.seen}</dt>
        <dd>${moment(session.seen_at, frame.lang)}</dd>
        ${
          session.network !== null &&
          html`<dt>${sentences.network}</dt>
            <dd><bdi>${plain(session.network)}</bdi></dd>`
        }
      </dl>
      ${
        session.sid === current
          ? html`<p><a class="button" id="account-logout" href="${logout_url}">${sentences.sign_out}</a></p>`
          : html`<p>
              <button class="button" id="session-end-${session.sid}" name="end" value="${session.sid}">
                ${sentences.end}
              </button>
            </p>`
      }
    </li>`;
  return accountPage(frame, {
    name: 'sessions',
    lead: sentences.lead,
    done: isDone(done) ? sentences.done[done] : undefined,
    body: html`<form method="post" action="${action}">
      ${hidden({ form_token })}
      <ul class="things">
        ${sorted.map(item)}
      </ul>
      ${
        sessions.length > 1 &&
        html`<div class="actions">
          <button class="button strong" id="sessions-end-others" name="others" value="end">
            ${sentences.end_others}
          </button>
        </div>`
      }
    </form>`,
  });
}

const isDone = (done = ''): done is keyof typeof sentences.done => Object.hasOwn(sentences.done, done);

const deviceName = ({ kind, program, system }: { kind: string; program: string; system: string }): string => {
  const named = [program, system].filter((name) => name !== '').map(plain);
  if (kind === 'login') return named.length > 0 ? `${sentences.script} (${named.join(', ')})` : sentences.script;
  return named.length > 0 ? named.join(', ') : sentences.unknown;
};
