/** What pages say of authorization details (RFC 9396): the sentences of their types, in the language of the page. */
import type { Language } from '../../languages/index.ts';
import { saidIn } from '../../languages/translations.ts';
import type { AuthorizationDetail } from '../../protocol/authorization-details.ts';
import type { DetailView } from '../../views/authorization-details.ts';
import type { Context } from './context.ts';

/** Each with what its type says today. */
export async function detailsOf(
  { deps }: Pick<Context, 'deps'>,
  details: readonly AuthorizationDetail[],
): Promise<(language: Language) => DetailView[]> {
  const types = details.length > 0 ? await deps.directory.types() : new Map();
  return (language) =>
    details.map((detail) => {
      const type = types.get(detail.type);
      return { detail, sentence: (type && saidIn(language, type.sentences, type.sentence)) ?? null };
    });
}
