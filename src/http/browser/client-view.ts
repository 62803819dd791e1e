/** A client as pages show it. */
import type { Client } from '../../store/clients.ts';
import type { ClientView } from '../../views/client.ts';
import type { ErrorPageProps } from '../../views/error.ts';
import { redirectOrigin } from '../../protocol/redirect-uri.ts';

export function clientView(client: Client): ClientView {
  const { client_id, client_name, client_uri, policy_uri, tos_uri } = client;
  return {
    client_id,
    client_name: client_name ?? client_id,
    client_host: client_uri === null ? undefined : new URL(client_uri).host,
    policy_uri: policy_uri ?? undefined,
    tos_uri: tos_uri ?? undefined,
    logo_hash: client.logo_hash ?? undefined,
    registered_by: client.registered_by,
  };
}

/** The way back to an application: its own address, else where its answers go. */
export function clientLink(client: Client): ErrorPageProps['link'] {
  const [redirect_uri] = client.redirect_uris;
  const href = client.client_uri ?? (redirect_uri === undefined ? undefined : redirectOrigin(redirect_uri));
  if (href === undefined) return undefined;
  // Who registered itself chose its name itself, and a link to one of these pages may be a stranger's.
  const name = client.registered_by === 'self' ? placeOf(href) : (client.client_name ?? client.client_id);
  return { href, place: name };
}

/** Where an answer goes, in a form people can check: the origin, or a private-use scheme. */
export function placeOf(redirect_uri: string): string {
  const { origin, protocol } = new URL(redirect_uri);
  return origin === 'null' ? protocol : origin;
}

/** The way to an application that nobody here approved, by its address, since it chose its name itself. */
export const onwardLink = (href: string, fields?: Record<string, string>): ErrorPageProps['link'] => ({
  href,
  place: placeOf(href),
  fields,
});
