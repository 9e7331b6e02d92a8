import type { Bytes } from '../../kernel/bytes.js'

/**
 * Maximum bytes that the store keeps for one connection: commands that wait for EXEC, names, subscriptions, watched
 * keys, and keys that a blocked command waits for.
 */
export const maxConnectionBytes = 67_108_864

/**
 * Maximum bytes of the name of a connection, and of the name of its library. Names are limited because CLIENT LIST
 * returns the names of all connections.
 */
export const maxName = 65_536

/** Bytes kept in addition to a name: entries in two sets and a map. */
const aroundName = 192

export function costOfName(name: Bytes): number {
  return aroundName + name.length
}

export function costOfNames(names: readonly Bytes[]): number {
  let bytes = 0
  for (const name of names) bytes += costOfName(name)
  return bytes
}
