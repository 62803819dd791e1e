/** JSON Merge Patch (RFC 7396). */

type Json = unknown;

/**
 * The target with the patch applied: members that are null go, objects are merged, everything else is replaced (§2).
 * Neither argument is changed.
 */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  // From entries, so that a member named __proto__ is a member and nothing more.
  return Object.fromEntries(merged);
}

const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
