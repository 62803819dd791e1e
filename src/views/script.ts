/**
 * What JavaScript adds where it runs; every page is complete without it. These are constants: their words and ids come
 * from data attributes, so that no data is ever inside a script.
 */
import { raw } from './html.ts';

/** A Show/Hide button beside each password. It hides the text again on submit, lest browsers remember it as plain text. */
export const revealPassword = raw(`
for (const input of document.querySelectorAll('input[data-show]')) {
  const button = document.createElement('button');
  const set = (shown) => {
    input.type = shown ? 'text' : 'password';
    button.textContent = shown ? input.dataset.hide : input.dataset.show;
    button.setAttribute('aria-label', button.textContent + ' ' + input.labels[0].textContent.trim().toLowerCase());
  };
  button.type = 'button';
  button.className = 'reveal';
  button.setAttribute('aria-controls', input.id);
  button.addEventListener('click', () => set(input.type === 'password'));
  input.form.addEventListener('submit', () => set(false));
  set(false);
  input.after(button);
  input.parentElement.classList.add('open');
}`);

/** A button that copies the text of each element with data-copy (its words: before, and after), which is called data-called or as its label says. */
export const copyButtons = raw(`
for (const source of navigator.clipboard ? document.querySelectorAll('[data-copy]') : []) {
  const button = document.createElement('button');
  const [before, after] = source.dataset.copy.split('|');
  const status = document.createElement('span');
  status.className = 'hush';
  status.setAttribute('role', 'status');
  button.type = 'button';
  button.className = 'button copy';
  button.textContent = before;
  button.setAttribute('aria-label', before + ' ' + (source.dataset.called ?? source.getAttribute('aria-label') ?? ''));
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = status.textContent = after;
    setTimeout(() => { button.textContent = before; status.textContent = ''; }, 2000);
  });
  source.after(button, status);
}`);

/** Through the prototype: a field named submit would hide the form's own method. */
export const submitForm = raw(`HTMLFormElement.prototype.submit.call(document.getElementById('form-post'));`);

/** A second click while the first is on its way takes that back, and meets a request that has been answered. */
export const sendOnce = raw(`
for (const form of document.forms) {
  let last = -Infinity;
  form.addEventListener('submit', (event) => {
    if (event.timeStamp - last < 2000) event.preventDefault();
    else last = event.timeStamp;
  });
}`);

/** A page that waits for its frames does not wait for ever. */
export const leaveAfterFrames = raw(
  `setTimeout(() => location.replace(document.getElementById('logout-continue').href), 5000);`,
);
