/**
 * Request objects (RFC 9101): from what was sent to the parameters that count. Those are the object's alone (§6.3): what
 * stands outside besides client_id, and there OpenID Connect Core §6.1 wants response_type and scope, counts for nothing.
 * Who sends an object without them inside is refused by the check that misses them.
 */
import { compactDecrypt, compactVerify, decodeProtectedHeader, errors, type KeyInput } from 'jose';
import type { Deps } from '../deps.ts';
import { CONTENT_ENCRYPTION } from '../protocol/encryption-alg.ts';
import { invalidRequest, invalidRequestObject } from '../protocol/error.ts';
import { repeatedParameter } from '../protocol/form-encoding.ts';
import { joseProblem, signingAlgsOf } from '../protocol/jwt-assertion.ts';
import { DECRYPTION_ALGS } from '../protocol/key-alg.ts';
import { numericDate } from '../protocol/numeric-date.ts';
import type { Parameters } from '../protocol/parameters.ts';
import { decodeUtf8 } from '../protocol/plain-text.ts';
import { listOf } from '../protocol/redaction.ts';
import { isRequestObjectType, readRequestObject } from '../protocol/request-object.ts';
import type { Client } from '../store/clients.ts';
import { reader } from './checks.ts';

type Needs = Pick<Deps, 'clientKeys' | 'config' | 'keys' | 'requestUris'>;

/** RFC 9101 §10.5: does this client, or everybody here, have to sign? */
export const mustSign = ({ config }: Pick<Deps, 'config'>, client: Client): boolean =>
  client.require_signed_request_object || config.REQUIRE_SIGNED_REQUEST_OBJECT;

/** The parameters that count: an object's, or those sent when there is none. @throws OAuthError */
export async function openParameters(deps: Needs, client: Client, sent: Parameters, now: Date): Promise<Parameters> {
  if (sent['request'] === undefined && sent['request_uri'] === undefined) {
    if (mustSign(deps, client)) {
      const detail = { expected: 'request, or request_uri', received: 'neither' };
      throw invalidRequest('the request has to be a signed request object (RFC 9101)', detail);
    }
    return sent;
  }
  // RFC 6749 §3.1: also of what does not count.
  const repeated = repeatedParameter(sent);
  if (repeated) throw repeated;
  const get = reader(sent);
  const [request, request_uri] = [get('request'), get('request_uri')];
  // OpenID Connect Core §6.1.
  if (request !== undefined && request_uri !== undefined) {
    throw invalidRequest('request and request_uri cannot be used together');
  }
  const object = request ?? (await deps.requestUris.fetchObject(client, request_uri!));
  const payload = await verify(deps, client, await decrypt(deps, client, object, now));
  const expected = { client_id: client.client_id, issuer: deps.config.ISSUER, now: numericDate(now) };
  const parameters = readRequestObject(payload, expected);
  if (typeof parameters === 'string') throw invalidRequestObject(`the request object: ${parameters}`);
  return parameters;
}

/**
 * The JWS inside a JWE (RFC 9101 §6.1); what is none is returned as it is. Signed first, then encrypted: never the
 * reverse.
 */
async function decrypt({ keys }: Needs, client: Client, object: string, now: Date): Promise<string> {
  if (object.split('.').length !== 5) return object;
  if (client.request_object_encryption_alg === null) {
    throw invalidRequestObject('the client is not registered for encrypted request objects', {
      expected: 'a signed object',
      received: 'an encrypted one',
    });
  }
  const problems: string[] = [];
  try {
    const { alg = '', kid, zip, crit } = decodeProtectedHeader(object);
    // Compressed, a few bytes become megabytes; and of extensions we know none (RFC 7516 §4.1.3, §4.1.13).
    if (zip !== undefined || crit !== undefined) throw new errors.JOSENotSupported('zip or crit in the header');
    for (const { private_key } of await keys.decryption({ alg, kid }, now)) {
      const jws = await decryptWith(private_key, object, problems);
      if (jws !== undefined) return jws;
    }
  } catch (error) {
    problems.push(joseProblem(error));
  }
  // One answer whatever went wrong: a difference would tell something of the key (RFC 7516 §11.5).
  throw invalidRequestObject('the request object cannot be decrypted', { cause: problems.join('; ') });
}

async function decryptWith(key: KeyInput, object: string, problems: string[]): Promise<string | undefined> {
  try {
    const { plaintext } = await compactDecrypt(object, key, {
      keyManagementAlgorithms: [...DECRYPTION_ALGS],
      contentEncryptionAlgorithms: [...CONTENT_ENCRYPTION],
    });
    return decodeUtf8(plaintext);
  } catch (error) {
    problems.push(joseProblem(error));
    return undefined;
  }
}

/** The payload of an object that this client signed, as text. @throws OAuthError invalid_request_object */
async function verify({ clientKeys }: Needs, client: Client, object: string): Promise<string> {
  try {
    const { payload, protectedHeader } = await compactVerify(object, clientKeys.keysOf(client), {
      algorithms: signingAlgsOf(client.request_object_signing_alg),
    });
    const { typ, crit } = protectedHeader;
    if (crit !== undefined) throw new errors.JOSENotSupported('crit in the header');
    if (!isRequestObjectType(typ)) throw new errors.JWTInvalid(`typ ${String(typ)} is not a request object's`);
    return decodeUtf8(payload);
  } catch (error) {
    throw invalidRequestObject('the request object is not signed with a key of the client', {
      cause: joseProblem(error),
      expected: `a signature by a registered key, ${listOf(signingAlgsOf(client.request_object_signing_alg))}`,
    });
  }
}
