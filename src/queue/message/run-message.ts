import type { Bytes } from '../../kernel/bytes.js'
import type { HeaderList } from '../../kernel/http.js'

/** An answer, as far as a run looks at it. */
export interface RunReply {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Bytes
  /** Why there is no answer. */
  readonly error?: string | undefined
}

/** What an attempt came to: an answer, or why there is none. */
export interface EndpointResponse extends RunReply {
  readonly error?: string
  readonly note?: string
  /** Nothing will come: the attempt ends with its time-out. */
  readonly never?: true
}
