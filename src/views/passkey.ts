/** What pages have of passkeys: the form that is sent for the person, and the script that asks their browser. */
import { hidden } from './form.ts';
import { html, raw, type Html } from './html.ts';
import type { Frame } from './layout.ts';
import { passkeySentences } from './sentences/passkey.ts';

export type PasskeyFormProps = {
  action: string;
  form_token: string;
  /** What the browser is asked for, as JSON. */
  options: string;
  /** The id of a passkey that was just used and is no longer known: its keeper may be told. */
  forget?: string | undefined;
};

/**
 * The button; without JavaScript, or where the browser knows no passkeys, nobody sees it. Where it is what the page is about, what it
 * takes is said instead.
 */
export function passkeyButton({ lang }: Frame, { alone = false } = {}): Html {
  const t = passkeySentences(lang);
  return html`${alone && html`<p class="note" id="passkey-needs">${t.needs_browser}</p>`}
    <button class="button${alone && html` strong`}" id="passkey-signin" type="button" hidden>${t.sign_in}</button>
    <p class="wrong" id="passkey-status" role="status" hidden>${t.failed}</p>`;
}

/** The form that carries what the browser answers. It goes where the form beside it goes, and is never seen. */
export const passkeyForm = ({ action, form_token, options, forget }: PasskeyFormProps): Html =>
  html`<form
    method="post"
    action="${action}"
    id="passkey-form"
    data-get="${options}"
    data-forget="${forget ?? ''}"
    hidden
  >
    ${hidden({ form_token, action: 'passkey', passkey: '' })}
  </form>`;

/** Filled in by the script below: after a sign-in that browser is offered a passkey. */
export const passkeysPossible = html`<input type="hidden" id="passkeys-possible" name="passkeys_possible" value="" />`;

/** Says with the form whether this browser can make passkeys that make sure who uses them. */
export const tellPasskeysPossible = raw(`
window.PublicKeyCredential?.isUserVerifyingPlatformAuthenticatorAvailable?.().then((yes) => {
  document.getElementById('passkeys-possible').value = yes ? 'yes' : '';
}, () => {});`);

/** Base64url to bytes and back, and the fields of WebAuthn that are bytes, where browsers do not do it themselves yet. */
const JSON_OF_KEYS = `
const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const keys = (list) => (list ?? []).map((one) => ({ ...one, id: bytes(one.id) }));
const forGet = (json) => PublicKeyCredential.parseRequestOptionsFromJSON?.(json) ??
  { ...json, challenge: bytes(json.challenge), allowCredentials: keys(json.allowCredentials) };
const forCreate = (json) => PublicKeyCredential.parseCreationOptionsFromJSON?.(json) ??
  { ...json, challenge: bytes(json.challenge), user: { ...json.user, id: bytes(json.user.id) }, excludeCredentials: keys(json.excludeCredentials) };
const written = (credential) => {
  if (credential.toJSON) return JSON.stringify(credential);
  const { id, type, response } = credential;
  const parts = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'].filter((name) => response[name]);
  const sent = Object.fromEntries(parts.map((name) => [name, text(response[name])]));
  return JSON.stringify({ id, rawId: id, type, response: { ...sent, transports: response.getTransports?.() } });
};`;

/**
 * Asks for a passkey as the page is filled in, and at the button. A challenge is good for ten minutes: an older one is fetched anew
 * with the page. What the browser answers is sent by the form, as if somebody had typed it.
 */
export const usePasskeys = raw(`{
const form = document.getElementById('passkey-form');
const button = document.getElementById('passkey-signin');
const status = document.getElementById('passkey-status');${JSON_OF_KEYS}
let asking, since = performance.now();
const ask = async (mediation) => {
  asking?.abort();
  const { signal } = asking = new AbortController();
  status.hidden = true;
  try {
    const credential = await navigator.credentials.get({ publicKey: forGet(JSON.parse(form.dataset.get)), mediation, signal });
    if (!credential) return;
    form.elements.passkey.value = written(credential);
    form.requestSubmit();
  } catch (error) {
    if (signal.aborted || mediation) return;
    status.hidden = error.name === 'NotAllowedError';
    await wait();
  }
};
const wait = async () => {
  if (await PublicKeyCredential.isConditionalMediationAvailable?.()) await ask('conditional');
};
const renew = async () => {
  if (document.hidden || performance.now() - since < 480000) return false;
  const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), 'text/html');
  const fresh = page.getElementById('passkey-form');
  if (!fresh) return false;
  since = performance.now();
  form.dataset.get = fresh.dataset.get;
  return true;
};
if (window.PublicKeyCredential) {
  button.hidden = false;
  document.getElementById('passkey-needs')?.remove();
  button.addEventListener('click', async () => { await renew().catch(() => {}); await ask(); });
  const again = async () => { if (await renew().catch(() => {})) await wait(); };
  setInterval(again, 60000);
  document.addEventListener('visibilitychange', again);
  const credentialId = form.dataset.forget;
  if (credentialId) PublicKeyCredential.signalUnknownCredential?.({ rpId: JSON.parse(form.dataset.get).rpId, credentialId })?.catch(() => {});
  wait();
}
}`);

/**
 * Has the browser make a passkey when the form that carries it is sent, and sends it then. Keepers of passkeys are told which there
 * are, and what the person is called, so that they offer none that was removed.
 */
export const createPasskeys = raw(`{
const form = document.getElementById('passkey-create-form');
const say = (id, shown) => document.getElementById(id).hidden = !shown;${JSON_OF_KEYS}
const make = async () => {
  say('passkey-failed', false);
  say('passkey-already', false);
  try {
    const credential = await navigator.credentials.create({ publicKey: forCreate(JSON.parse(form.dataset.create)) });
    form.elements.passkey.value = written(credential);
    HTMLFormElement.prototype.submit.call(form);
  } catch (error) {
    say('passkey-already', error.name === 'InvalidStateError');
    say('passkey-failed', !['InvalidStateError', 'NotAllowedError'].includes(error.name));
  }
};
if (window.PublicKeyCredential) {
  form.hidden = false;
  say('passkey-needs', false);
  form.addEventListener('submit', (event) => { event.preventDefault(); make(); });
  if (form.dataset.known) {
    const { rpId, userId, ids, name, displayName } = JSON.parse(form.dataset.known);
    PublicKeyCredential.signalAllAcceptedCredentials?.({ rpId, userId, allAcceptedCredentialIds: ids })?.catch(() => {});
    PublicKeyCredential.signalCurrentUserDetails?.({ rpId, userId, name, displayName })?.catch(() => {});
  }
}
}`);
