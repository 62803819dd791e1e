import { durationIn, listIn } from '../languages/intl.ts';
import { authorizationDetails, type DetailView } from './authorization-details.ts';
import { clientName, namedClient, plain, who, type ClientView, type PersonView } from './client.ts';
import { hidden } from './form.ts';
import { html, type Html } from './html.ts';
import { check, cross, key, moon, person as personIcon } from './icons.ts';
import { page, type Frame } from './layout.ts';
import { sendOnce } from './script.ts';
import { consentSentences } from './sentences/consent.ts';

type ScopeGroup = 'identity' | 'access' | 'offline';

/** One thing that is asked for: a scope, or a claim by its own name. */
export type ScopeView = {
  name: string;
  /** A sentence out of the scopes table, or ours about the claim; null where there is none: the raw name is shown. */
  description: string | null;
  group: ScopeGroup;
  /** Not agreed to before. */
  is_new: boolean;
};

export type ConsentPageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  client: ClientView;
  person: PersonView;
  switch_url: string;
  /** The origin of the redirect_uri: where the answer goes. */
  redirect_origin: string;
  /** The code a device shows, when a device asks: then the answer goes there. */
  user_code?: string | undefined;
  resource?: readonly string[] | undefined;
  scopes: readonly ScopeView[];
  /** What exactly is asked for (RFC 9396). */
  details?: readonly DetailView[] | undefined;
  /** For how many seconds at most the application keeps what it is allowed. */
  lasts: number;
};

/** In the order of the page; each is called what its name says in the catalogue. */
const groups: readonly { group: ScopeGroup; icon: Html }[] = [
  { group: 'identity', icon: personIcon },
  { group: 'access', icon: key },
  { group: 'offline', icon: moon },
];

export function consentPage(props: ConsentPageProps): Html {
  const {
    frame,
    action,
    form_token,
    client,
    person,
    switch_url,
    redirect_origin,
    resource = [],
    scopes,
    details = [],
    lasts,
  } = props;
  const t = consentSentences(frame.lang);
  // Marking everything marks nothing: the first time, all of it is new.
  const time = durationIn(frame.lang, lasts);
  const offline = scopes.some(({ group }) => group === 'offline');
  const marked = scopes.some((scope) => !scope.is_new);

  return page(frame, {
    title: t.title({ client: clientName(client) }),
    heading: t.title({ client: namedClient(client) }),
    lead: client.client_host,
    client,
    scripts: [sendOnce],
    body: html`
      ${client.registered_by === 'self' && html`<p class="note small" id="unchecked">${t.unchecked}</p>`}
      ${who(person, html`<a href="${switch_url}">${t.not_you}</a>`)} ${authorizationDetails(frame.lang, details)}
      ${groups.map(({ group, icon }) => {
        const rows = scopes.filter((scope) => scope.group === group);
        return (
          rows.length > 0 &&
          html`<section>
            <h2>${icon}${t[group]}</h2>
            <ul class="list">
              ${rows.map((scope) => row(scope, marked && t.new))}
            </ul>
            ${group === 'access' && resource.length > 0 && html`<p class="where small muted">${t.at({ places: listIn(frame.lang, resource.map(place)) })}</p>`}
          </section>`
        );
      })}
      <section>
        <p class="small muted" id="lasts">${offline ? t.lasts_offline({ time }) : t.lasts({ time })}</p>
        ${
          props.user_code === undefined
            ? html`<p class="small muted">${t.sent_back({ place: html`<b>${redirect_origin}</b>` })}</p>`
            : html`<p class="note">${t.device({ code: html`<b id="user_code">${props.user_code}</b>` })}</p>`
        }
      </section>
      <form method="post" action="${action}">
        ${hidden({ form_token })}
        <div class="actions pair">
          <button class="button" id="consent-deny" name="action" value="deny">${cross} ${t.deny}</button>
          <button class="button" id="consent-approve" name="action" value="approve">${check} ${t.allow}</button>
        </div>
      </form>
    `,
  });
}

const row = ({ name, description, is_new }: ScopeView, marked: string | false) =>
  html`<li>
    ${description === null ? html`<code class="tag">${plain(name)}</code>` : description}
    ${marked !== false && is_new && html`<span class="new">${marked}</span>`}
  </li>`;

const place = (resource: string) => html`<b>${resource.replace(/^https:\/\//, '')}</b>`;
