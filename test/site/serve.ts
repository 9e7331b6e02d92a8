import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
}

export interface ServedSite extends AsyncDisposable {
  readonly origin: string
  /** Paths that were requested and don't exist. */
  readonly missing: readonly string[]
}

/** Serves a folder on loopback as a static file host does. */
export async function serveFolder(folder: string): Promise<ServedSite> {
  const missing: string[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname)
    const places = [path, `${path}.html`, join(path, 'index.html')].map((name) => join(folder, normalize(name)))
    const file = places.find((place) => existsSync(place) && statSync(place).isFile())
    if (file === undefined) missing.push(path)
    response.writeHead(file === undefined ? 404 : 200, { 'content-type': types[extname(file ?? '')] ?? 'text/plain' })
    response.end(file === undefined ? '' : readFileSync(file))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    missing,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
