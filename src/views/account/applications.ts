import { clientName, plain, type ClientView } from '../client.ts';
import { hidden } from '../form.ts';
import { html, type Html } from '../html.ts';
import { day } from '../moment.ts';
import { accountPage, type AccountFrame } from './frame.ts';

const sentences = {
  none: 'No application is connected with your account.',
  may: 'It may',
  nothing: 'Know that it is you',
  offline: 'Keep access when you are away',
  at: 'At',
  since: 'Connected since',
  last_used: 'Last let in',
  remembered: 'It has no access now. You agreed to this before, and it will not be asked again.',
  revoke: 'Take back access',
  self_registered: 'This application registered itself and nobody has checked its name.',
  done: { revoked: 'That application has no access any more.', gone: 'That application had no access.' },
};

export type ApplicationView = {
  client: ClientView;
  /** What it may do: sentences out of the scopes table, and raw names where there is none. */
  scopes: ReadonlyArray<{ name: string; description: string | null }>;
  resource: readonly string[];
  offline_access: boolean;
  has_access: boolean;
  since: Date | string;
  last_used: Date | string | null;
};

export type ApplicationsPageProps = {
  frame: AccountFrame;
  action: string;
  form_token: string;
  applications: readonly ApplicationView[];
  done?: string | undefined;
};

export function applicationsPage({ frame, action, form_token, applications, done }: ApplicationsPageProps): Html {
  return accountPage(frame, {
    name: 'applications',
    done: isDone(done) ? sentences.done[done] : undefined,
    body:
      applications.length === 0
        ? html`<p class="muted" id="applications-none">${sentences.none}</p>`
        : html`<form method="post" action="${action}">
            ${hidden({ form_token })}
            <ul class="things">
              ${applications.map((application) => item(application, frame))}
            </ul>
          </form>`,
  });
}

const isDone = (done = ''): done is keyof typeof sentences.done => Object.hasOwn(sentences.done, done);

function item(application: ApplicationView, frame: AccountFrame): Html {
  const { client, scopes, resource, offline_access, has_access, since, last_used } = application;
  return html`<li>
    <h2><bdi>${clientName(client)}</bdi></h2>
    ${client.client_host !== undefined && html`<p class="small muted"><bdi>${plain(client.client_host)}</bdi></p>`}
    ${client.registered_by === 'self' && html`<p class="note small">${sentences.self_registered}</p>`}
    <h3>${sentences.may}</h3>
    <ul>
      ${scopes.map(({ name, description }) => html`<li>${description ?? html`<code class="tag">${plain(name)}</code>`}</li>`)}
      ${scopes.length === 0 && html`<li>${sentences.nothing}</li>`}
      ${offline_access && html`<li>${sentences.offline}</li>`}
    </ul>
    ${
      resource.length > 0 &&
      html`<p class="small muted">
        ${sentences.at} ${resource.map((uri, index) => html`${index > 0 && ', '}<bdi>${plain(uri)}</bdi>`)}
      </p>`
    }
    ${!has_access && html`<p class="small">${sentences.remembered}</p>`}
    <dl>
      <dt>${sentences.since}</dt>
      <dd>${day(since, frame.lang)}</dd>
      ${
        last_used !== null &&
        html`<dt>${sentences.last_used}</dt>
          <dd>${day(last_used, frame.lang)}</dd>`
      }
    </dl>
    <p>
      <button class="button" id="application-revoke-${client.client_id}" name="revoke" value="${client.client_id}">
        ${sentences.revoke}<span class="hush">: ${clientName(client)}</span>
      </button>
    </p>
  </li>`;
}
