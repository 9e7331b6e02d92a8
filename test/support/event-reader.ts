/** Reads an event stream line by line, as a client does. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #text = ''

  constructor(readonly response: Response) {
    if (response.body === null) throw new Error('the answer has no body')
    this.#reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>
  }

  /** Returns the next event or comment without its blank line; `undefined` at the end. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const event = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        return event
      }
      const { done, value } = await this.#reader.read()
      if (done) return undefined
      this.#text += this.#decoder.decode(value, { stream: true })
    }
  }

  async take(count: number): Promise<(string | undefined)[]> {
    const events: (string | undefined)[] = []
    while (events.length < count) events.push(await this.next())
    return events
  }

  /** Returns the rest of the stream. */
  async rest(): Promise<string[]> {
    const events: string[] = []
    for (let event = await this.next(); event !== undefined; event = await this.next()) events.push(event)
    return events
  }

  cancel(): Promise<void> {
    return this.#reader.cancel()
  }
}
