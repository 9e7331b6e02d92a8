import { createParser } from 'eventsource-parser'

export interface ServerEvent {
  /** Name of the event; `message` if the server sends no name. */
  readonly name: string
  readonly data: string
}

/**
 * Creates a parser for one stream of server-sent events. The returned function takes the next bytes and returns the
 * events that are now complete.
 */
export function eventReader(): (bytes: Uint8Array) => readonly ServerEvent[] {
  const decoder = new TextDecoder()
  let events: ServerEvent[] = []
  const parser = createParser({
    onEvent({ event: name = 'message', data }) {
      events.push({ name, data })
    },
  })
  return (bytes) => {
    events = []
    parser.feed(decoder.decode(bytes, { stream: true }))
    return events
  }
}

/**
 * Yields the server-sent events of a response body, in a list per chunk. It reads a `fetch` response, because
 * `EventSource` cannot send headers.
 */
export async function* serverEvents(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<readonly ServerEvent[], void> {
  if (body === null) return
  const reader = body.getReader()
  const read = eventReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const events = read(value)
      if (events.length > 0) yield events
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
