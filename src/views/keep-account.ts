import { keepForm } from './account/delete.ts';
import { clientName, namedClient, who, type ClientView, type PersonView } from './client.ts';
import { html, type Html } from './html.ts';
import { page, type Frame } from './layout.ts';
import { sendOnce } from './script.ts';
import { deletionSentences } from './sentences/deletion.ts';
import { frameSentences } from './sentences/frame.ts';

export type KeepAccountPageProps = {
  frame: Frame;
  action: string;
  form_token: string;
  client: ClientView;
  person: PersonView;
  erase_after: Date | string;
};

/** Asked on the way to an application: an account that is to be erased is given to none. */
export const keepAccountPage = ({
  frame,
  action,
  form_token,
  client,
  person,
  erase_after,
}: KeepAccountPageProps): Html =>
  page(frame, {
    title: deletionSentences(frame.lang).keep_title_client({ client: clientName(client) }),
    heading: deletionSentences(frame.lang).keep_title,
    lead: html`${deletionSentences(frame.lang).to_go_on({ client: namedClient(client) })}`,
    client,
    scripts: [sendOnce],
    body: html`${who(person)}
    ${keepForm({ frame, action, form_token, erase_after, cancel: frameSentences(frame.lang).cancel })}`,
  });
