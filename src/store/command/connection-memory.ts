import type { Bytes } from '../../kernel/bytes.js'

// What is kept for a connection as long as it wants it.

/** Bytes that one connection may have kept for it: rows that wait for EXEC, names, what it listens to, watches and waits for. */
export const maxConnectionBytes = 67_108_864

/** Bytes of the name of a connection, and of those of its library: CLIENT LIST has those of all. */
export const maxName = 65_536

/** Bytes that a name is kept with, beside its own: places in two sets and a map. */
const aroundName = 192

export function costOfName(name: Bytes): number {
  return aroundName + name.length
}

export function costOfNames(names: readonly Bytes[]): number {
  let bytes = 0
  for (const name of names) bytes += costOfName(name)
  return bytes
}
