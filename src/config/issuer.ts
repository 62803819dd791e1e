/** ISSUER: how the server is called, byte for byte. */
import { withoutSecrets } from './shown.ts';

/** What is wrong with it, in complete sentences. */
export function issuerProblems(issuer: string, mode: 'dev' | 'serve' | 'command'): string[] {
  const name = `ISSUER is ${JSON.stringify(withoutSecrets(issuer))}`;
  if (!URL.canParse(issuer)) return [`${name}: must be an absolute URL, e.g. https://id.example.com`];
  const url = new URL(issuer);
  const problems: string[] = [];
  if (url.protocol !== 'https:' && url.protocol !== 'http:') problems.push(`${name}: must be an https URL`);
  // Clients compare it byte for byte (RFC 8414 §3.3), so there is one way to write it.
  if (issuer.endsWith('/') || url.search !== '' || url.hash !== '' || url.username !== '') {
    problems.push(`${name}: must have no trailing slash, query, fragment or user information`);
  } else if (url.origin + (url.pathname === '/' ? '' : url.pathname) !== issuer) {
    problems.push(`${name}: must be written as ${url.origin}${url.pathname === '/' ? '' : url.pathname}`);
  }
  const onLocalhost = url.hostname === 'localhost' || url.hostname.endsWith('.localhost');
  if (mode === 'dev' && !onLocalhost) {
    problems.push(`${name}: development mode stays on localhost, use \`postern serve\` for anything else`);
  }
  if (url.protocol === 'http:' && !onLocalhost) {
    problems.push(`${name}: must be https (http is for localhost only)`);
  }
  // It becomes part of every route, where a colon or a star would be a pattern.
  if (!/^(\/[A-Za-z0-9._~-]+)*$/.test(url.pathname === '/' ? '' : url.pathname)) {
    problems.push(`${name}: its path must be of letters, digits and - . _ ~`);
  }
  return problems;
}
