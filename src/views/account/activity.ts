import { plain } from '../client.ts';
import { html, type Html } from '../html.ts';
import { moment } from '../moment.ts';
import { networkIn } from '../network.ts';
import { activitySentences } from '../sentences/activity.ts';
import { waysInActivitySentences } from '../sentences/activity-ways-in.ts';
import { accountPage, type AccountFrame } from './frame.ts';

const sentencesIn = (lang: AccountFrame['lang']) => ({ ...activitySentences(lang), ...waysInActivitySentences(lang) });

/** The events that have a sentence. */
type SaidEvent = keyof ReturnType<typeof sentencesIn> extends infer Key
  ? Key extends `event_${infer Name}`
    ? Name
    : never
  : never;

export type ActivityPageProps = {
  frame: AccountFrame;
  events: ReadonlyArray<{
    at: Date | string;
    event: SaidEvent;
    client_name: string | null;
    by: 'you' | 'operator';
    network: string | null;
  }>;
  older_url: string | undefined;
  newest_url: string | undefined;
};

export function activityPage({ frame, events, older_url, newest_url }: ActivityPageProps): Html {
  const t = sentencesIn(frame.lang);
  // What an older or a newer version wrote may have no sentence: then it is told by its name.
  const said = (event: string) =>
    Object.hasOwn(t, `event_${event}`)
      ? (t as unknown as Record<string, string>)[`event_${event}`]
      : html`${t.other} <code>${event}</code>`;
  return accountPage(frame, {
    name: 'activity',
    body: html`<ul class="things">
        ${events.map(
          ({ at, event, client_name, by, network }) =>
            html`<li>
              <b>${said(event)}</b>
              ${client_name !== null && html`<br /><bdi>${plain(client_name)}</bdi>`}
              <br /><span class="small muted"
                >${moment(at, frame.lang)}${by === 'operator' && html` · ${t.by_operator}`}${
                  networkIn(frame.lang, network) && html` · ${networkIn(frame.lang, network)}`
                }</span
              >
            </li>`,
        )}
      </ul>
      <div class="actions">
        ${older_url !== undefined && html`<a class="button" id="activity-older" href="${older_url}">${t.older}</a>`}
        ${newest_url !== undefined && html`<a class="button quiet" id="activity-newest" href="${newest_url}">${t.newest}</a>`}
      </div>`,
  });
}
