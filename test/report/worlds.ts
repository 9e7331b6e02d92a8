import { createSandbox, fault, type Sandbox, type SandboxOptions } from '../../src/index.js'

export const orders = 'https://shop.test/orders'
export const done = 'https://shop.test/done'

/** Sends a request to the queue like a client. */
export function askQueue(sandbox: Sandbox, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${sandbox.tokens.queue}`, ...(init.headers as Record<string, string>) }
  return sandbox.fetch(`${sandbox.urls.queue}${path}`, { method: 'POST', ...init, headers })
}

export function askStore(
  sandbox: Sandbox,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  return sandbox.fetch(`${sandbox.urls.store}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${sandbox.tokens.store}`, ...headers },
  })
}

export interface OrderWorld {
  readonly sandbox: Sandbox
  readonly messageId: string
}

/**
 * An order published over HTTP: 500, 503, delivered. Each attempt is reported, and another message is delivered in
 * between.
 */
export async function orderWorld(options: SandboxOptions = {}): Promise<OrderWorld> {
  const sandbox = createSandbox({ seed: 7, startAt: '2030-01-01T09:00:00Z', ...options })
  const { destinations, clock, store, queue } = sandbox
  destinations.script(orders, [fault.status(500), fault.status(503)])
  destinations.respond(done, () => 200)
  destinations.respond('https://shop.test/other', () => 200)
  store.run('SET', 'stock', 5)
  await askStore(sandbox, '/pipeline', [
    ['INCR', 'visits'],
    ['GET', 'stock'],
  ])
  const answer = await askQueue(sandbox, `/v2/publish/${orders}`, {
    body: '{"id":42}',
    headers: { 'content-type': 'application/json', 'service-callback': done },
  })
  const { messageId } = (await answer.json()) as { messageId: string }
  queue.publish({ to: 'https://shop.test/other', body: 'hello' })
  await clock.drain()
  return { sandbox, messageId }
}
