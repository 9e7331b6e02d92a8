import { createServer } from 'node:http'

/** A delivery that arrived. */
interface Arrival {
  readonly body: string
  readonly message: string
  readonly retried: number
  readonly schedule: string | undefined
}

/** The app that messages are delivered to. It fails the first delivery of each message whose number ends in 7. */
export interface Receiver {
  readonly url: string
  readonly arrivals: readonly Arrival[]
  /** Returns how often a message got a 200. */
  taken(body: string): number
  close(): Promise<void>
}

export async function openReceiver(): Promise<Receiver> {
  const arrivals: Arrival[] = []
  const taken = new Map<string, number>()
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const of = (name: string): string | undefined => request.headers[`upstash-${name}`]?.toString()
      const retried = Number(of('retried') ?? 0)
      arrivals.push({ body, message: of('message-id') ?? '', retried, schedule: of('schedule-id') })
      const fails = body.endsWith('7') && retried === 0
      if (!fails) taken.set(body, (taken.get(body) ?? 0) + 1)
      response.writeHead(fails ? 500 : 200).end('seen')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}/app`,
    arrivals,
    taken: (body) => taken.get(body) ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
