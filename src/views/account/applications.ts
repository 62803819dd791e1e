import { oneDetail, type DetailView } from '../authorization-details.ts';
import { clientName, plain, type ClientView } from '../client.ts';
import { hidden } from '../form.ts';
import { html, type Html } from '../html.ts';
import { day } from '../moment.ts';
import { applicationsSentences } from '../sentences/applications.ts';
import { accountPage, type AccountFrame } from './frame.ts';

export type ApplicationView = {
  client: ClientView;
  /** What it may do: sentences out of the scopes table, and raw names where there is none. */
  scopes: ReadonlyArray<{
    name: string;
    description: string | null;
    /** The person agreed to it, and can take it back alone. */
    agreed: boolean;
  }>;
  resource: readonly string[];
  /** What exactly it was allowed (RFC 9396). */
  details?: readonly DetailView[] | undefined;
  offline_access: boolean;
  offline_agreed: boolean;
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
  const t = applicationsSentences(frame.lang);
  return accountPage(frame, {
    name: 'applications',
    done: ({ revoked: t.done_revoked, narrowed: t.done_narrowed, gone: t.done_gone } as Record<string, string>)[
      done ?? ''
    ],
    body:
      applications.length === 0
        ? html`<p class="muted" id="applications-none">${t.empty}</p>`
        : html`<form method="post" action="${action}">
            ${hidden({ form_token })}
            <ul class="things">
              ${applications.map((application) => item(application, frame))}
            </ul>
          </form>`,
  });
}

function item(application: ApplicationView, frame: AccountFrame): Html {
  const t = applicationsSentences(frame.lang);
  const {
    client,
    scopes,
    resource,
    details = [],
    offline_access,
    offline_agreed,
    has_access,
    since,
    last_used,
  } = application;
  const takeBack = (scope: string, said: string | Html): Html =>
    html`<button
      class="button"
      id="application-narrow-${client.client_id}-${scope}"
      name="narrow"
      value="${client.client_id} ${scope}"
    >
      ${t.narrow}<span class="hush">: ${said}</span>
    </button>`;
  return html`<li>
    <h2><bdi>${clientName(client)}</bdi></h2>
    ${client.client_host !== undefined && html`<p class="small muted"><bdi>${plain(client.client_host)}</bdi></p>`}
    ${client.registered_by === 'self' && html`<p class="note small">${t.self_registered}</p>`}
    <h3>${t.may}</h3>
    <ul>
      ${scopes.map(({ name, description, agreed }) => {
        const said = description ?? html`<code class="tag">${plain(name)}</code>`;
        return html`<li><span>${said}</span> ${agreed && takeBack(name, said)}</li>`;
      })}
      ${scopes.length === 0 && html`<li>${t.nothing}</li>`}
      ${(offline_access || offline_agreed) && html`<li><span>${t.offline}</span> ${offline_agreed && takeBack('offline_access', t.offline)}</li>`}
    </ul>
    ${details.map((detail) => oneDetail(frame.lang, detail))}
    ${
      resource.length > 0 &&
      html`<p class="small muted">
        ${t.at} ${resource.map((uri, index) => html`${index > 0 && ', '}<bdi>${plain(uri)}</bdi>`)}
      </p>`
    }
    ${!has_access && html`<p class="small">${t.remembered}</p>`}
    <dl>
      <dt>${t.since}</dt>
      <dd>${day(since, frame.lang)}</dd>
      ${
        last_used !== null &&
        html`<dt>${t.last_used}</dt>
          <dd>${day(last_used, frame.lang)}</dd>`
      }
    </dl>
    <p>
      <button class="button" id="application-revoke-${client.client_id}" name="revoke" value="${client.client_id}">
        ${t.revoke}<span class="hush">: ${clientName(client)}</span>
      </button>
    </p>
  </li>`;
}
