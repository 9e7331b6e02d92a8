import type { Bytes } from '../kernel/bytes.js'

/** An answer as faults see it: the status line and headers, and a body that may come in parts. */
export interface StruckAnswer {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Bytes | ReadableStream<Uint8Array> | null
}
