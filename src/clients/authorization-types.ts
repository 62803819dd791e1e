/** Writes types of authorization details (RFC 9396). Every change leaves an audit event. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { changeOf } from '../events/change.ts';
import { record, type Actor } from '../events/index.ts';
import { isDetailsType } from '../protocol/authorization-details.ts';
import { translations } from '../protocol/localized.ts';
import { readableText } from '../protocol/plain-text.ts';
import { unknownName } from '../protocol/write-error.ts';
import * as store from '../store/authorization-types.ts';
import * as clients from '../store/clients.ts';
import type { Trx } from '../store/postgres/db.ts';
import * as resources from '../store/resources.ts';
import { schemaAt, schemaProblem } from './details-schema.ts';

const pointer = z
  .string()
  .max(300)
  .regex(/^(?:\/[^/]+)+$/, 'must be a JSON Pointer, such as /actions');
const sentence = readableText(500);

/** A type as it is written. */
export const authorizationTypeFields = z.strictObject({
  name: z.string().refine(isDetailsType, 'must be characters of a scope token (RFC 6749 §3.3), 200 at most'),
  /** The resources that its details are for; none is any. */
  resource: z.array(z.string().max(2000)).max(20).default([]),
  /** What a detail has to look like. */
  schema: z.record(z.string(), z.unknown()),
  /** JSON Pointers to lists and amounts that a token may have less of than was granted. */
  narrowable: z.array(pointer).max(20).default([]),
  /** What the consent page says of a detail, with members in it by their JSON Pointers: `Pay {/amount} to {/recipient}`. */
  sentence: sentence.nullable().default(null),
  /** The same in other languages, by their tags (BCP 47). */
  sentences: translations(sentence).default({}),
});

export type AuthorizationTypeChanges = Partial<Omit<store.AuthorizationType, 'name' | 'created_at'>>;

/** A type as it is answered: when its name was taken is our own business. */
export const typeOf = ({
  created_at: _created_at,
  ...type
}: store.AuthorizationType): Omit<store.AuthorizationType, 'created_at'> => type;

/** The members that a sentence names. */
const membersOf = (text: string): string[] => [...text.matchAll(/\{(\/[^{}]*)\}/g)].map(([, member]) => member!);

/** Creates a type, or replaces what is named of it; the rest stays. @throws ZodError, WriteError */
export async function putAuthorizationType(
  trx: Trx,
  name: string,
  changes: AuthorizationTypeChanges,
  by: Actor,
  now: Date,
): Promise<Omit<store.AuthorizationType, 'created_at'>> {
  const present = await store.findLocked(trx, name);
  const type = authorizationTypeFields.parse({ ...(present && typeOf(present)), ...changes, name });
  requireSound(type);
  if (present && isDeepStrictEqual(type, typeOf(present))) return type;
  for (const uri of type.resource) {
    if (present?.resource.includes(uri)) continue;
    if (!(await resources.find(trx, uri))) throw unknownName('resource', `there is no resource ${uri}`);
  }
  await store.put(trx, { ...type, created_at: present?.created_at ?? now });
  const change = changeOf(present && typeOf(present), type);
  await record(trx, { event: 'authorization_type_changed', detail: { name, ...change } }, by, now);
  return type;
}

/** What the members of a type mean for each other. @throws ZodError */
function requireSound({
  name,
  schema,
  narrowable,
  sentence,
  sentences,
}: z.output<typeof authorizationTypeFields>): void {
  const refuse = (path: string[], message: string, input: unknown): never => {
    throw new z.ZodRealError([{ code: 'custom', path, message, input }]);
  };
  const problem = schemaProblem(name, schema);
  if (problem !== undefined) refuse(['schema'], problem, schema);
  for (const member of narrowable) {
    const kinds = [schemaAt(schema, member)?.['type']].flat();
    // Of an object's members each is narrowed by itself.
    if (
      kinds.length === 0 ||
      !kinds.every((kind) => ['array', 'number', 'integer', 'string'].includes(kind as string))
    ) {
      refuse(['narrowable'], `${member} is no list, number or amount of the schema`, narrowable);
    }
  }
  for (const [path, text] of [['sentence', sentence], ...Object.entries(sentences)] as Array<[string, string | null]>) {
    const strange = membersOf(text ?? '').find((member) => !schemaAt(schema, member));
    if (strange !== undefined) {
      refuse(path === 'sentence' ? [path] : ['sentences', path], `${strange} is no member of the schema`, text);
    }
  }
}

/**
 * Deletes a type: nobody can ask for it, no client has it any more, and what was granted of it is in no token from then on, also
 * when another is made of its name. False when there is none.
 */
export async function removeAuthorizationType(trx: Trx, name: string, by: Actor, now: Date): Promise<boolean> {
  const before = await store.findLocked(trx, name);
  if (!before || !(await store.remove(trx, name))) return false;
  await clients.dropDetailsType(trx, name);
  const detail = { name, ...changeOf(typeOf(before), undefined) };
  await record(trx, { event: 'authorization_type_deleted', detail }, by, now);
  return true;
}
