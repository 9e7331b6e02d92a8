// An app with pages rendered on the server, which counts visits in the store and publishes orders.
import { createServer, type IncomingMessage } from 'node:http'
import { Client, Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

const { PORT = '3000' } = process.env
const own = `http://127.0.0.1:${PORT}`
const redis = Redis.fromEnv({ enableTelemetry: false })
const queue = new Client()
const receiver = new Receiver()

async function read(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}

createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? '/', own)
  const html = (body: string): void => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>shop</title>${body}`)
  }
  try {
    if (pathname === '/health') response.end('ok')
    else if (pathname === '/') {
      const visits = await redis.incr('visits')
      const report = (await redis.get<string>('report')) ?? 'not yet'
      html(
        `<h1>visit ${visits}</h1><p role="status">Report ${report}</p><form action="/order"><button>Order</button></form>`,
      )
    } else if (pathname === '/order') {
      await queue.publishJSON({ url: `${own}/api/orders`, body: { id: 42 }, delay: 60, retries: 1 })
      html('<h1>Thank you</h1>')
    } else if (pathname === '/api/orders') {
      const body = await read(request)
      const signature = String(request.headers['upstash-signature'])
      const valid = await receiver.verify({ signature, body, url: `${own}/api/orders` }).catch(() => false)
      if (valid) await redis.set('report', `of order ${(JSON.parse(body) as { id: number }).id}`)
      response.writeHead(valid ? 200 : 401).end()
    } else if (pathname === '/charge') {
      const { status } = await fetch(`${process.env.BANK_URL}/charges`, { method: 'POST', body: '{"cents":4200}' })
      html(`<h1>${status === 201 ? 'Paid' : `The bank responded ${status}`}</h1>`)
    } else response.writeHead(404).end()
  } catch (error) {
    response.writeHead(500).end(String(error))
  }
}).listen(Number(PORT), '127.0.0.1')
