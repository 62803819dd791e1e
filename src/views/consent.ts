import { clientName, namedClient, plain, who, type ClientView, type PersonView } from './client.ts';
import { hidden } from './form.ts';
import { html, type Html } from './html.ts';
import { check, cross, key, moon, person as personIcon } from './icons.ts';
import { page, type Frame } from './layout.ts';
import { sendOnce } from './script.ts';

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
};

const groups: readonly { group: ScopeGroup; title: string; icon: Html }[] = [
  { group: 'identity', title: 'Who you are', icon: personIcon },
  { group: 'access', title: 'What it can do', icon: key },
  { group: 'offline', title: 'Keep access when you are away', icon: moon },
];

export function consentPage(props: ConsentPageProps): Html {
  const { frame, action, form_token, client, person, switch_url, redirect_origin, resource = [], scopes } = props;
  // Marking everything marks nothing: the first time, all of it is new.
  const marked = scopes.some((scope) => !scope.is_new);

  return page(frame, {
    title: `Allow access for ${clientName(client)}`,
    heading: html`Allow access for ${namedClient(client)}`,
    lead: client.client_host,
    client,
    scripts: [sendOnce],
    body: html`
      ${
        client.registered_by === 'self' &&
        html`<p class="note small">
          This application registered itself and nobody has checked its name. Go on only if you came from it just now.
        </p>`
      }
      ${who(person, html`<a href="${switch_url}">Not you?</a>`)}
      ${groups.map(({ group, title, icon }) => {
        const rows = scopes.filter((scope) => scope.group === group);
        return (
          rows.length > 0 &&
          html`<section>
            <h2>${icon}${title}</h2>
            <ul class="list">
              ${rows.map((scope) => row(scope, marked))}
            </ul>
            ${group === 'access' && resource.length > 0 && html`<p class="where small muted">At ${places(resource)}</p>`}
          </section>`
        );
      })}
      <section>
        ${
          props.user_code === undefined
            ? html`<p class="small muted">
                You will be sent back to <b>${redirect_origin}</b>, whether you allow this or not.
              </p>`
            : html`<p class="note">
                A device showing <b id="user_code">${props.user_code}</b> asks for this. Only allow it if you started
                this yourself, on a device you own and have before you.
              </p>`
        }
      </section>
      <form method="post" action="${action}">
        ${hidden({ form_token })}
        <div class="actions pair">
          <button class="button" id="consent-deny" name="action" value="deny">${cross} Deny</button>
          <button class="button" id="consent-approve" name="action" value="approve">${check} Allow</button>
        </div>
      </form>
    `,
  });
}

const row = ({ name, description, is_new }: ScopeView, marked: boolean) =>
  html`<li>
    ${description === null ? html`<code class="tag">${plain(name)}</code>` : description}
    ${marked && is_new && html`<span class="new">New</span>`}
  </li>`;

const places = (resource: readonly string[]) =>
  resource.map((uri, index) => html`${index > 0 && ', '}<b>${uri.replace(/^https:\/\//, '')}</b>`);
