import type { PortableString } from '../../kernel/portable.js'
import type { PortableValue } from './portable-values.js'

/** Key with its value; `expiresAt` is in milliseconds since the Unix epoch. */
export type DumpedKey = { readonly key: PortableString; readonly expiresAt?: number } & PortableValue

/** Content of a store as JSON, in order of insertion. `JSON.stringify` and `JSON.parse` preserve all bytes. */
export interface StoreDump {
  readonly format: 'stuntdouble/store'
  readonly version: 1
  readonly keys: readonly DumpedKey[]
  /** Aliases of search indexes, each with the name of its index; absent if there are none. */
  readonly searchAliases?: readonly (readonly [alias: PortableString, index: PortableString])[] | undefined
}
