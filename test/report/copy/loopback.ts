import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as it arrived over the network. */
export interface Arrived {
  readonly method: string
  readonly url: string
  /** Names in their original case; values as bytes. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer
}

/** A server that records requests while `use` runs. */
export async function recording<T>(use: (origin: string, arrived: Arrived[]) => Promise<T>): Promise<T> {
  const arrived: Arrived[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', rawHeaders } = request
      const headers = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1]!] as const] : []))
      arrived.push({ method, url, headers, body: Buffer.concat(chunks) })
      response.end('ok')
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrived)
  } finally {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
}

/** Runs a program with a text on its standard input. */
export function run(
  program: string,
  args: readonly string[],
  { cwd, env = {}, input = '' }: { cwd: string; env?: Record<string, string>; input?: string },
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((done) => {
    const child = execFile(
      program,
      args,
      {
        cwd,
        env: { PATH: process.env.PATH!, HOME: cwd, NO_COLOR: '1', ...env } as never,
        maxBuffer: 1e8,
        timeout: 240_000,
      },
      (error: { code?: unknown } | null, stdout: string, stderr: string) =>
        done({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}
