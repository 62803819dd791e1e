/** What the demo client shows after its callback, in development only: the tokens, opened and explained. */
import { named } from './client.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import { copyButtons } from './script.ts';

export type DemoPageProps = {
  frame: Frame;
  id_token_claims: Record<string, unknown>;
  /** Null where the access token is opaque. */
  access_token_claims: Record<string, unknown> | null;
  /** Tokens abbreviated by the caller. */
  token_response: Record<string, unknown>;
  userinfo: Record<string, unknown> | null;
  /** What an API answered to the access token, and where to go for what it asked for (RFC 9470). */
  api: {
    url: string;
    status: number;
    challenge?: string | undefined;
    body: object;
    step_up_url?: string | undefined;
  };
  again_url: string;
  logout_url: string;
};

/** OIDC Core §2, RFC 7519 §4.1, RFC 9068 §2.2. */
const meanings: Record<string, string> = {
  iss: 'who says so: this server',
  sub: 'the person, by an identifier that never changes',
  aud: 'whom it is for',
  exp: 'when it ends',
  iat: 'when it was issued',
  auth_time: 'when the person signed in',
  nonce: 'ties it to the request of this browser',
  acr: 'how strongly the person signed in',
  amr: 'by which methods',
  sid: 'the session, for sign-out',
  at_hash: 'ties it to the access token',
  azp: 'the client that asked',
  client_id: 'the client that asked',
  scope: 'what it permits',
  jti: 'the identifier of this token',
};
const times = new Set(['exp', 'iat', 'nbf', 'auth_time', 'updated_at']);

export function demoPage(props: DemoPageProps): Html {
  const { id_token_claims: id, access_token_claims: access, userinfo } = props;
  const name = [id['name'], userinfo?.['name'], userinfo?.['preferred_username'], id['sub']].find(
    (value) => typeof value === 'string',
  );
  return page(props.frame, {
    title: 'Demo: signed in',
    heading: html`Signed in${name !== undefined && html` as ${named(name)}`}`,
    lead: 'The demo client redeemed its code at the token endpoint, and this is what it was given.',
    wide: true,
    scripts: [copyButtons],
    body: html`
      <section>
        <h2>ID token: who signed in</h2>
        <div class="cols">${claims(id)}${code('Claims of the ID token', id)}</div>
      </section>
      <section>
        <h2>Access token: what the client may do</h2>
        ${
          access === null
            ? html`<p>It is opaque: only this server can tell what it means, at the introspection endpoint.</p>`
            : html`<div class="cols">${claims(access)}${code('Claims of the access token', access)}</div>`
        }
      </section>
      <section>
        <div class="cols">
          <div>
            <h2>Answer of the token endpoint</h2>
            ${code('POST /token', props.token_response)}
          </div>
          ${
            userinfo &&
            html`<div>
              <h2>Answer of UserInfo</h2>
              ${code('GET /userinfo', userinfo)}
            </div>`
          }
        </div>
      </section>
      <section>
        <h2>An API that wants two factors, shown in the last five minutes</h2>
        ${code(`GET ${props.api.url}`, { status: props.api.status, 'WWW-Authenticate': props.api.challenge, body: props.api.body })}
        ${
          props.api.step_up_url !== undefined &&
          html`<div class="actions">
            <a class="button" id="demo-step-up" href="${props.api.step_up_url}">Bring what it asks for</a>
          </div>`
        }
      </section>
      <div class="actions pair">
        <a class="button strong" href="${props.again_url}">Sign in again</a>
        <a class="button" href="${props.logout_url}">Sign out</a>
      </div>
    `,
  });
}

const claims = (object: Record<string, unknown>) =>
  html`<dl class="claims">
    ${Object.entries(object)
      .filter(([name]) => Object.hasOwn(meanings, name))
      .map(
        ([name, value]) =>
          html`<dt><code>${name}</code></dt>
            <dd>
              ${times.has(name) && typeof value === 'number' ? utc(value) : inWords(value)}
              <small>${meanings[name]}</small>
            </dd>`,
      )}
  </dl>`;

const inWords = (value: unknown) =>
  typeof value === 'string' ? value : Array.isArray(value) ? value.map(String).join(', ') : JSON.stringify(value);

function utc(seconds: number): string {
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium', timeZone: 'UTC' });
  return Math.abs(seconds) < 8.64e12 ? `${format.format(seconds * 1000)} UTC` : String(seconds);
}

/** Scrolls sideways by itself, and so can be reached by keyboard (WCAG 2.1.1). */
const code = (label: string, value: unknown) =>
  html`<figure>
    <figcaption>${label}</figcaption>
    <pre tabindex="0" role="region" aria-label="${label}" data-copy="Copy|Copied">${coloured(value)}</pre>
  </figure>`;

const token = /("(?:\\.|[^"\\])*")(?=(:)?)/;

function coloured(value: unknown): Html {
  // split with two groups gives text, string, colon, text, ...
  const parts = JSON.stringify(value, null, 2).split(token);
  return html`${parts.map((part, index) => {
    if (index % 3 === 0) return part;
    if (index % 3 === 2) return '';
    return html`<span class="${parts[index + 1] === ':' ? 'k' : 'v'}">${part}</span>`;
  })}`;
}
