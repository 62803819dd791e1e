import { plain } from '../client.ts';
import { hidden } from '../form.ts';
import { html, type Html } from '../html.ts';
import { moment } from '../moment.ts';
import { networkIn } from '../network.ts';
import { sessionsSentences } from '../sentences/sessions.ts';
import { accountPage, type AccountFrame } from './frame.ts';

type Said = ReturnType<typeof sessionsSentences>;

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
  const t = sessionsSentences(frame.lang);
  const sorted = sessions.toSorted((a, b) => Number(b.sid === current) - Number(a.sid === current));
  const item = (session: SessionsPageProps['sessions'][number]) =>
    html`<li>
      <h2>${deviceName(t, session)} ${session.sid === current && html`<span class="new">${t.this_one}</span>`}</h2>
      <dl>
        <dt>${t.signed_in}</dt>
        <dd>${moment(session.auth_time, frame.lang)}</dd>
        <dt>${t.seen}</dt>
        <dd>${moment(session.seen_at, frame.lang)}</dd>
        ${
          networkIn(frame.lang, session.network) &&
          html`<dt>${t.network}</dt>
            <dd>${networkIn(frame.lang, session.network)}</dd>`
        }
      </dl>
      ${
        session.sid === current
          ? html`<p><a class="button" id="account-logout" href="${logout_url}">${t.sign_out}</a></p>`
          : html`<p>
              <button class="button" id="session-end-${session.sid}" name="end" value="${session.sid}">${t.end}</button>
            </p>`
      }
    </li>`;
  return accountPage(frame, {
    name: 'sessions',
    lead: t.lead,
    done: doneIn(t, done),
    body: html`<form method="post" action="${action}">
      ${hidden({ form_token })}
      <ul class="things">
        ${sorted.map(item)}
      </ul>
      ${
        sessions.length > 1 &&
        html`<div class="actions">
          <button class="button strong" id="sessions-end-others" name="others" value="end">${t.end_others}</button>
        </div>`
      }
    </form>`,
  });
}

const doneIn = (t: Said, done = ''): string | undefined =>
  ({ ended: t.done_ended, others: t.done_others, gone: t.done_gone })[done];

const deviceName = (t: Said, { kind, program, system }: { kind: string; program: string; system: string }): string => {
  const named = [program, system].filter((name) => name !== '').map(plain);
  if (kind === 'login') return named.length > 0 ? `${t.script} (${named.join(', ')})` : t.script;
  return named.length > 0 ? named.join(', ') : t.unknown;
};
