import { named, plain } from '../client.ts';
import { hidden, problemSummary } from '../form.ts';
import { html, type Html } from '../html.ts';
import { moment } from '../moment.ts';
import { connectionsSentences } from '../sentences/connections.ts';
import { upstreamSentences } from '../sentences/upstream.ts';
import { upstreamButton, type UpstreamView } from '../upstream.ts';
import { accountPage, type AccountFrame } from './frame.ts';

export type ConnectionsPageProps = {
  frame: AccountFrame;
  action: string;
  form_token: string;
  connections: ReadonlyArray<{
    upstream: string;
    upstream_sub: string;
    label: string;
    name: string | null;
    works: boolean;
    created_at: Date | string;
    used_at: Date | string;
  }>;
  /** Who came back from a provider in this browser, and waits for an account. */
  waiting?: { label: string; name: string | null } | undefined;
  /** What else could be connected. */
  others: readonly UpstreamView[];
  problem?: string | undefined;
  done?: string | undefined;
};

export function connectionsPage(props: ConnectionsPageProps): Html {
  const { frame, action, form_token, connections, waiting, others, problem, done } = props;
  const t = connectionsSentences(frame.lang);
  const common = upstreamSentences(frame.lang);
  const item = (connection: ConnectionsPageProps['connections'][number], index: number) =>
    html`<li>
      <h2>${named(connection.label)}</h2>
      ${connection.name !== null && html`<p><bdi>${plain(connection.name)}</bdi></p>`}
      ${!connection.works && html`<p class="muted">${t.off}</p>`}
      <dl>
        <dt>${t.since}</dt>
        <dd>${moment(connection.created_at, frame.lang)}</dd>
        <dt>${t.used}</dt>
        <dd>${moment(connection.used_at, frame.lang)}</dd>
      </dl>
      <form method="post" action="${action}">
        ${hidden({ form_token, upstream: connection.upstream, upstream_sub: connection.upstream_sub })}
        <button class="button" id="disconnect-${index + 1}" name="action" value="disconnect">${t.disconnect}</button>
      </form>
    </li>`;
  return accountPage(frame, {
    name: 'connections',
    lead: t.lead,
    problem,
    done: done === 'connected' || done === 'disconnected' ? t[done] : undefined,
    body: html`${problemSummary(frame, problem, 'connections')}
      ${
        waiting &&
        html`<form class="note" method="post" action="${action}">
          ${hidden({ form_token })}
          <p>
            ${
              waiting.name === null
                ? t.waiting_unnamed({ upstream: named(waiting.label) })
                : t.waiting({ upstream: named(waiting.label), name: named(waiting.name) })
            }
          </p>
          <div class="actions">
            <button class="button strong" id="connect-submit" name="action" value="connect">
              ${common.connect_submit}
            </button>
            <button class="button quiet" id="connect-later" name="action" value="later">${common.later}</button>
          </div>
        </form>`
      }
      <div id="connections" tabindex="-1">
        ${
          connections.length === 0
            ? html`<p class="muted">${t.none}</p>`
            : html`<ul class="things">
                ${connections.map(item)}
              </ul>`
        }
      </div>
      ${
        others.length > 0 &&
        html`<form method="post" action="${action}">
          ${hidden({ form_token })}
          <h2>${t.add}</h2>
          <div class="actions">${others.map((each) => upstreamButton(frame, each))}</div>
        </form>`
      }`,
  });
}
