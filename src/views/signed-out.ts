import { namedClient, type ClientView } from './client.ts';
import { html, type Html } from './html.ts';
import { onward } from './icons.ts';
import { issuerName, page, type Frame } from './layout.ts';

export type SignedOutPageProps = {
  frame: Frame;
  client?: ClientView | null | undefined;
  return_url?: string | undefined;
};

export function signedOutPage({ frame, client, return_url }: SignedOutPageProps): Html {
  return page(frame, {
    title: 'Signed out',
    heading: 'Signed out',
    lead: html`You are signed out of ${issuerName(frame.issuer)} in this browser.`,
    client,
    body: html`<p class="small muted">
        Applications you used may keep you signed in on their own. On a shared computer, sign out of them too.
      </p>
      ${
        return_url !== undefined &&
        html`<div class="actions">
          <a class="button strong" href="${return_url}"
            ><span>Back to ${client ? namedClient(client) : 'the application'}</span> ${onward}</a
          >
        </div>`
      }`,
  });
}
