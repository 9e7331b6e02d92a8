// The server of the page. It has the key of the management API; the page does not. It needs only Node.js.
import { createServer } from 'node:http'
import { type Account, pageOf, readUsage } from './usage.ts'

export function usageServer(account: Account): ReturnType<typeof createServer> {
  return createServer((_request, response) => {
    const send = (status: number, type: string, text: string): void =>
      void response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(text)
    readUsage(account).then(
      (usage) => send(200, 'text/html', pageOf(usage)),
      (error: Error) => send(502, 'text/plain', `The usage could not be read. ${error.message}`),
    )
  })
}

if (import.meta.filename === process.argv[1]) {
  const { UPSTASH_EMAIL: email = '', UPSTASH_API_KEY: apiKey = '', BUDGET = '10', PORT = '4021' } = process.env
  usageServer({ email, apiKey, budget: Number(BUDGET) }).listen(Number(PORT), '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${PORT}/`)
  })
}
