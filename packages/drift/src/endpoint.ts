import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { Dialect } from '../../../src/protocol/dialect.js'
import { ownHeader } from '../../../src/protocol/dialect.js'
import type { Delivery } from './case.js'
import { neutralHeaders } from './in-dialect.js'

// The endpoint that the queue delivers to. It keeps no state between deliveries, because the query of its URL contains
// its instructions. With `status=500` it responds with 500. With `fails=2` it fails the first two attempts. It reads
// the number of the attempt from the headers of each delivery.

export interface DriftDestination {
  /** Public URL by which the queue reaches the endpoint. */
  readonly url: string
  /**
   * Returns the deliveries of a case that have arrived until now. The list is empty if another program responds at the
   * URL.
   */
  deliveries(prefix: string): readonly Delivery[]
}

/** Query parameter that contains the prefix of the case. */
const caseParameter = 'drift'

export function endpointUrl(
  endpoint: DriftDestination | undefined,
  prefix: string,
  asked: Readonly<Record<string, string | number>>,
): string {
  if (endpoint === undefined) throw new Error('this run has no endpoint')
  const url = new URL(endpoint.url)
  for (const [name, value] of Object.entries({ [caseParameter]: prefix, ...asked }))
    url.searchParams.set(name, String(value))
  return url.href
}

export function deliveryOf(method: string, url: string, headers: Headers, body: string, dialect: Dialect): Delivery {
  const asked = Object.fromEntries(new URL(url, 'http://endpoint.test').searchParams)
  return { method, asked, headers: neutralHeaders(headers, dialect), body }
}

interface EndpointAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

export function endpointResponse({ asked, headers }: Delivery, dialect: Dialect): EndpointAnswer {
  const fails = Number(asked.fails ?? 0)
  const status = Number(headers['service-retried'] ?? 0) < fails ? 500 : Number(asked.status ?? 200)
  return {
    status: status >= 200 && status <= 599 ? status : 200,
    headers: {
      'content-type': 'text/plain',
      ...(status === 489 && { [ownHeader('NonRetryable-Error', dialect)]: 'true' }),
    },
    body: `drift ${status}`,
  }
}

/**
 * An endpoint that runs on this machine and records all deliveries. The public URL forwards to the port of the
 * endpoint, for example through a tunnel.
 */
export class LocalDestination implements DriftDestination {
  readonly #deliveries: Delivery[] = []
  readonly #server: Server

  private constructor(
    readonly url: string,
    dialect: Dialect,
  ) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8')
        const delivery = deliveryOf(request.method!, request.url!, webHeaders(request.headers), body, dialect)
        this.#deliveries.push(delivery)
        const answer = endpointResponse(delivery, dialect)
        response.writeHead(answer.status, answer.headers).end(answer.body)
      })
    })
  }

  /** Starts to listen. @param url public URL that forwards to the port */
  static open(url: string, port: number, dialect: Dialect): Promise<LocalDestination> {
    const listener = new LocalDestination(url, dialect)
    return new Promise((resolve, reject) => {
      listener.#server.once('error', reject)
      listener.#server.listen(port, '127.0.0.1', () => resolve(listener))
    })
  }

  deliveries(prefix: string): readonly Delivery[] {
    return this.#deliveries.filter(({ asked }) => asked[caseParameter] === prefix)
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

function webHeaders(headers: IncomingHttpHeaders): Headers {
  return new Headers(
    Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}
