export interface ServerSentEvent {
  readonly name: string
  readonly data: string
}

/** The server-sent events of an answer, until it ends. */
export async function* eventsOf(answer: Response): AsyncGenerator<ServerSentEvent, void> {
  if (answer.body === null) return
  const reader = answer.body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      rest += decoder.decode(value, { stream: true })
      for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
        const lines = rest.slice(0, end).split('\n')
        rest = rest.slice(end + 2)
        const values = (field: string): string[] =>
          lines.filter((line) => line.startsWith(field)).map((line) => line.slice(field.length))
        const data = values('data: ')
        if (data.length > 0) yield { name: values('event: ')[0] ?? 'message', data: data.join('\n') }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
