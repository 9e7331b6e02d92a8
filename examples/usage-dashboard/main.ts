// The dashboard's server, which has the key of the management API; the page does not. It needs only Node.js.
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'

export interface Settings {
  /** Base URL of the management API. */
  readonly mgmt: string
  readonly user: string
  readonly key: string
  /** First segment in the path of the queue's statistics: `/v2/{word}/stats/{id}`. */
  readonly word: string
  readonly queueId: string
  readonly searchId: string
}

const files: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'dashboard.js': 'text/javascript',
  'chart.js': 'text/javascript',
  'figures.js': 'text/javascript',
}

export function dashboard({ mgmt, user, key, word, queueId, searchId }: Settings): Server {
  const authorization = `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`
  const usage: Readonly<Record<string, string>> = {
    'usage/queue': `${mgmt}/v2/${word}/stats/${encodeURIComponent(queueId)}`,
    'usage/search': `${mgmt}/v2/search/${encodeURIComponent(searchId)}/stats`,
  }
  const answer = async (path: string, query: string): Promise<[status: number, type: string, body: Buffer]> => {
    const [file, endpoint] = [path || 'index.html', usage[path]]
    if (Object.hasOwn(files, file)) return [200, files[file]!, await readFile(new URL(file, import.meta.url))]
    if (endpoint === undefined) return [404, 'text/plain', Buffer.from('not found')]
    const given = await fetch(endpoint + query, { headers: { authorization } })
    return [given.status, 'application/json', Buffer.from(await given.arrayBuffer())]
  }
  return createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://dashboard.test')
    answer(pathname.slice(1), search)
      .catch((error: Error): [number, string, Buffer] => [
        502,
        'application/json',
        Buffer.from(JSON.stringify({ error: `The management API is out of reach: ${error.message}` })),
      ])
      .then(([status, type, body]) => response.writeHead(status, { 'content-type': type }).end(body))
  })
}

if (import.meta.filename === process.argv[1]) {
  const { env } = process
  const server = dashboard({
    mgmt: env.MGMT_URL ?? 'http://127.0.0.1:4010/main/mgmt',
    user: env.MGMT_USER ?? 'user@stuntdouble.test',
    key: env.MGMT_KEY ?? 'management-key',
    word: env.MGMT_WORD ?? 'queue',
    queueId: env.QUEUE_USER_ID ?? 'defaultUser',
    searchId: env.SEARCH_INDEX_ID ?? '1b671a64-40d5-491e-99b0-da01ff1f3341',
  })
  server.listen(Number(env.PORT ?? 4020), '127.0.0.1', () => {
    const address = server.address() as { readonly port: number }
    console.log(`http://127.0.0.1:${address.port}/`)
  })
}
