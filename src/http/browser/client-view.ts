/** A client as pages show it. */
import type { Language } from '../../languages/index.ts';
import { saidIn } from '../../languages/translations.ts';
import { translationsOf, type LocalizedMember } from '../../protocol/localized.ts';
import { redirectOrigin } from '../../protocol/redirect-uri.ts';
import type { Client } from '../../store/clients.ts';
import type { ClientView } from '../../views/client.ts';
import type { ErrorPageProps } from '../../views/error.ts';

/** A member of a client as it is said in a language. */
const said = (client: Client, member: LocalizedMember, lang: Language): string | undefined =>
  saidIn(lang, translationsOf(client.localized, member), client[member]);

/** What an application is called in a language. */
export const nameIn = (
  lang: Language,
  { client_id, client_name, localized }: Pick<Client, 'client_id' | 'client_name' | 'localized'>,
): string => saidIn(lang, translationsOf(localized, 'client_name'), client_name) ?? client_id;

export function clientView(client: Client, lang: Language): ClientView {
  const { client_id } = client;
  const client_uri = said(client, 'client_uri', lang);
  return {
    client_id,
    client_name: nameIn(lang, client),
    client_host: client_uri === undefined ? undefined : new URL(client_uri).host,
    policy_uri: said(client, 'policy_uri', lang),
    tos_uri: said(client, 'tos_uri', lang),
    logo_hash: client.logo_hash ?? undefined,
    registered_by: client.registered_by,
  };
}

/** The way back to an application: its own address, else where its answers go. */
export function clientLink(client: Client, lang: Language): ErrorPageProps['link'] {
  const [redirect_uri] = client.redirect_uris;
  const href =
    said(client, 'client_uri', lang) ?? (redirect_uri === undefined ? undefined : redirectOrigin(redirect_uri));
  if (href === undefined) return undefined;
  // Who registered itself chose its name itself, and a link to one of these pages may be a stranger's.
  const name = client.registered_by === 'self' ? placeOf(href) : nameIn(lang, client);
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
