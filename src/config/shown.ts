/** Configuration fit to be printed: any variable can hold a secret by mistake, or in a URL. */

/** Without who is named in a URL, and without a private key where the name of its file belongs. */
export const withoutSecrets = (value: string): string =>
  value.replaceAll(/\/\/\S*@/g, '//(hidden)@').replaceAll(/-----BEGIN.*/gs, '(hidden)');

/** The same of whatever a variable was read as. */
export function shown(value: unknown): unknown {
  if (typeof value === 'string') return withoutSecrets(value);
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shown(one)]));
}
