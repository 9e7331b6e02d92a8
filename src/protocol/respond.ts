import { type Bytes, utf8 } from '../kernel/bytes.js'
import type { HeaderList } from '../kernel/http.js'
import type { Answer } from './service.js'

/** Shared, because answers are kept in the traffic log. */
const jsonType = ['content-type', 'application/json'] as const
const binaryType = ['content-type', 'application/octet-stream'] as const

export function json(value: unknown, status = 200, headers: HeaderList = []): Answer {
  return jsonText(utf8(JSON.stringify(value)), status, headers)
}

/** An answer whose JSON text is already there. */
export function jsonText(body: Bytes, status = 200, headers: HeaderList = []): Answer {
  return { status, headers: [jsonType, ...headers], body }
}

export function binary(body: Bytes, status = 200, headers: HeaderList = []): Answer {
  return { status, headers: [binaryType, ...headers], body }
}

export function empty(status = 200, headers: HeaderList = []): Answer {
  return { status, headers, body: null }
}

/** A protocol error of the queue and the statistics API: thrown anywhere below an endpoint, answered in one place. */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: HeaderList = [],
  ) {
    super(message)
  }
}
