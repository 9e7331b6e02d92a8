// Serves the app with Node.js only.
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { app } from './app.ts'

const { PORT = '4020' } = process.env
const own = `http://127.0.0.1:${PORT}`

createServer(async (incoming, outgoing) => {
  const { method = 'GET', headers, url = '/' } = incoming
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const request = new Request(own + url, {
    method,
    headers: headers as Record<string, string>,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' }),
  })
  const answer = await app.fetch(request)
  outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
}).listen(Number(PORT), '127.0.0.1', () => console.log(`${own}/expenses/1`))
