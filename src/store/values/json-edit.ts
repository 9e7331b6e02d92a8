import type { JsonLocation } from './json-path.js'
import { copyJson, isContainer, type Json, type JsonArray, type JsonDocument, type JsonObject } from './json-value.js'

/**
 * Returns the current value at a location. The `value` of the location itself is older, because it was read when the
 * path was evaluated.
 */
export function valueAt(document: JsonDocument, { up, key }: JsonLocation): Json {
  if (up === undefined) return document.root
  const container = up.value as JsonArray | JsonObject
  return (Array.isArray(container) ? container[key as number] : container.get(key as never)) as Json
}

export function replaceAt(document: JsonDocument, { up, key }: JsonLocation, value: Json): void {
  if (up === undefined) document.root = value
  else if (Array.isArray(up.value)) up.value[key as number] = value
  else (up.value as JsonObject).set(key as never, value)
}

/**
 * Returns the outermost locations, each once. Replacing or removing their values also affects all locations inside
 * them.
 */
export function outermost(places: readonly JsonLocation[]): JsonLocation[] {
  if (places.length < 2) return [...places]
  const containers = new Set<Json>()
  for (const { value } of places) if (isContainer(value)) containers.add(value)
  const keysByParent = new Map<Json, Set<unknown>>()
  return places.filter((place) => {
    for (let above = place.up; above !== undefined; above = above.up) if (containers.has(above.value)) return false
    const parent = place.up?.value ?? null
    const keys = keysByParent.get(parent) ?? new Set()
    if (keys.has(place.key)) return false
    keysByParent.set(parent, keys.add(place.key))
    return true
  })
}

/** Removes the values at the locations, none of which may be the root or inside another. */
export function removeAll(places: readonly JsonLocation[]): void {
  const indexes = new Map<JsonArray, Set<number>>()
  for (const { up, key } of places) {
    const container = up?.value as JsonArray | JsonObject
    if (!Array.isArray(container)) container.delete(key as never)
    else indexes.set(container, (indexes.get(container) ?? new Set()).add(key as number))
  }
  for (const [array, gone] of indexes) {
    let kept = 0
    for (let index = 0; index < array.length; index++) if (!gone.has(index)) array[kept++] = array[index] as Json
    array.length = kept
  }
}

/**
 * Applies a merge patch (RFC 7386). Changes a target object in place; the patch is copied, so it can be used for
 * several targets.
 */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!(patch instanceof Map)) return copyJson(patch)
  const object: JsonObject = target instanceof Map ? target : new Map()
  for (const [key, member] of patch) {
    if (member === null) object.delete(key)
    else object.set(key, mergePatch(object.get(key), member))
  }
  return object
}
