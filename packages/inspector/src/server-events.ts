export interface ServerEvent {
  /** `message` where the server names none. */
  readonly name: string
  readonly data: string
}

/** Server-sent events of a body, those of one piece together. `EventSource` cannot send a header, `fetch` can. */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly ServerEvent[]> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    rest += value
    const blocks = rest.split(/\r?\n\r?\n/)
    rest = blocks.pop()!
    const events = blocks.map(eventOf).filter((event) => event !== undefined)
    if (events.length > 0) yield events
  }
}

function eventOf(block: string): ServerEvent | undefined {
  let name = 'message'
  const data: string[] = []
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ''] = /^([a-z]+): ?(.*)$/s.exec(line) ?? []
    if (field === 'event') name = value
    else if (field === 'data') data.push(value)
  }
  return data.length === 0 ? undefined : { name, data: data.join('\n') }
}
