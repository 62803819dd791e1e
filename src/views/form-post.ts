import { html, type Html } from './html.ts';
import { onward } from './icons.ts';
import { hidden } from './form.ts';
import { page, type Frame } from './layout.ts';
import { submitForm } from './script.ts';
import { formPostSentences } from './sentences/form-post.ts';
import { frameSentences } from './sentences/frame.ts';

export type FormPostProps = {
  frame: Frame;
  /** The redirect_uri, http or https. */
  action: string;
  fields: Record<string, string>;
};

/** OAuth 2.0 Form Post Response Mode §2. */
export function formPostPage({ frame, action, fields }: FormPostProps): Html {
  const url = URL.parse(action);
  // safeUrl would make it a form that posts the code to ourselves.
  if (url === null || !/^https?:$/.test(url.protocol)) throw new TypeError('form_post needs a web address');
  const { host } = url;
  const t = formPostSentences(frame.lang);
  return page(frame, {
    title: t.title({ place: host }),
    heading: t.heading,
    lead: t.lead({ place: html`<b>${host}</b>` }),
    scripts: [submitForm],
    fleeting: true,
    body: html`<form id="form-post" method="post" action="${action}">
      ${hidden(fields)}
      <button class="button strong">${frameSentences(frame.lang).continue} ${onward}</button>
    </form>`,
  });
}
