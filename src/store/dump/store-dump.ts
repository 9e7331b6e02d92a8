import type { PortableString } from '../../kernel/portable.js'
import type { PortableValue } from './portable-values.js'

/** Key with its value. */
export type DumpedKey = {
  /** Name of the key. */
  readonly key: PortableString
  /** Expiration in milliseconds since the Unix epoch. Absent if the key does not expire. */
  readonly expiresAt?: number
} & PortableValue

/** Content of a store as JSON, in order of insertion. `JSON.stringify` and `JSON.parse` preserve all bytes. */
export interface StoreDump {
  /** Name of the format, by which `load()` recognizes the dump of a store. */
  readonly format: 'stuntdouble/store'
  /** Version of the format. */
  readonly version: 1
  /** Keys with their values, in order of insertion. */
  readonly keys: readonly DumpedKey[]
  /** Aliases of search indexes, each with the name of its index; absent if there are none. */
  readonly searchAliases?: readonly (readonly [alias: PortableString, index: PortableString])[] | undefined
}
