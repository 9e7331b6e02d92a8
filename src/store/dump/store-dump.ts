import type { PortableString } from '../../kernel/portable.js'
import type { PortableValue } from './portable-values.js'

/** One key with its value; `expiresAt` in milliseconds since the Unix epoch. */
export type DumpedKey = { readonly key: PortableString; readonly expiresAt?: number } & PortableValue

/** Everything in the store as JSON, in order of insertion. Survives `JSON.stringify` and back, whatever the bytes. */
export interface StoreDump {
  readonly format: 'stuntdouble/store'
  readonly version: 1
  readonly keys: readonly DumpedKey[]
  /** Aliases of search indexes, each with the name that it stands for; left out where there are none. */
  readonly searchAliases?: readonly (readonly [alias: PortableString, index: PortableString])[] | undefined
}
