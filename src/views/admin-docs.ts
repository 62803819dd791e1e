/** The admin API to be read: every operation with its scope, what it takes, what it answers, and how to call it. */
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';

/** A parameter, or a member of a body. */
export type DocumentedField = { name: string; type: string; required: boolean; description?: string | undefined };

export type DocumentedOperation = {
  operation_id: string;
  method: string;
  path: string;
  summary: string;
  scope: string;
  /** By where they go: path, query, header. */
  parameters: readonly (readonly [where: string, fields: readonly DocumentedField[]])[];
  /** Null where no body is read. */
  body: { media_type: string; fields: readonly DocumentedField[] } | null;
  /** The members of the answer; null where it has no body. */
  answer: { status: string; fields: readonly DocumentedField[] | null };
  /** The statuses of refusals. */
  refusals: readonly string[];
  /** A call, for a shell. */
  example: string;
};

export type AdminDocsProps = {
  frame: Frame;
  /** Where the API is. */
  url: string;
  description: string;
  openapi_url: string;
  /** What gets an access token, for a shell. */
  token_example: string;
  sections: readonly { name: string; operations: readonly DocumentedOperation[] }[];
};

export const adminDocsPage = (props: AdminDocsProps): Html =>
  page(props.frame, {
    title: 'Admin API',
    heading: 'Admin API',
    lead: html`<code>${props.url}</code>`,
    wide: true,
    body: html`
      <p>${props.description}</p>
      <p>
        For programs the same is at <a href="${props.openapi_url}">openapi.json</a> (OpenAPI 3.1). Refusals are
        <code>application/problem+json</code> (RFC 9457) with a <code>request_id</code>, which
        <code>postern explain</code> explains.
      </p>
      ${code('An access token for the examples below', props.token_example)}
      ${props.sections.map(
        ({ name, operations }) =>
          html`<section id="${name}">
            <h2>${name}</h2>
            ${operations.map(described)}
          </section>`,
      )}
    `,
  });

const described = (operation: DocumentedOperation) =>
  html`<details id="${operation.operation_id}">
    <summary>${operation.summary}: <code>${operation.method} ${operation.path}</code></summary>
    <div class="cols">
      <div>
        <p>Scope <code class="tag">${operation.scope}</code></p>
        ${operation.parameters.map(([where, members]) => fields(`In the ${where}`, members))}
        ${operation.body && fields(`Body, ${operation.body.media_type}`, operation.body.fields)}
      </div>
      <div>
        ${code('Example', operation.example)}
        ${
          operation.answer.fields === null
            ? html`<h3>Answer ${operation.answer.status}, without a body</h3>`
            : fields(`Answer ${operation.answer.status}`, operation.answer.fields)
        }
        <p class="small muted">Refusals: ${operation.refusals.join(', ')}</p>
      </div>
    </div>
  </details>`;

const fields = (heading: string, members: readonly DocumentedField[]) =>
  html`<h3>${heading}</h3>
    ${
      members.length === 0
        ? html`<p>Nothing.</p>`
        : html`<dl>
            ${members.map(
              ({ name, type, required, description }) =>
                html`<dt><code>${name}</code> ${type}${required && ', required'}</dt>
                  <dd>${description}</dd>`,
            )}
          </dl>`
    }`;

/** Scrolls sideways by itself, and so can be reached by keyboard (WCAG 2.1.1). */
const code = (label: string, text: string) =>
  html`<figure>
    <figcaption>${label}</figcaption>
    <pre tabindex="0">${text}</pre>
  </figure>`;
