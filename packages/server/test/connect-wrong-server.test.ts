import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'stuntdouble/client'
import { afterEach, describe, expect, test } from 'vitest'

// The most common mistake is a wrong port where another program listens.
let server: Server | undefined
afterEach(() => {
  server?.close()
  server = undefined
})

async function answering(status: number, type: string, body: string): Promise<string> {
  server = createServer((_, response) => response.writeHead(status, { 'content-type': type }).end(body))
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('connect() to a server that is not stuntdouble, which returns', () => {
  test.each([
    ['a page', 200, 'text/html', '<html>'],
    ['no body', 200, 'text/plain', ''],
    ['other JSON', 200, 'application/json', '{"ok":true}'],
    ['a list', 200, 'application/json', '[]'],
    ['null', 200, 'application/json', 'null'],
    ['broken JSON', 200, 'application/json', '{'],
    ['an error in plain text', 404, 'text/plain', 'nope'],
    ['an empty error', 500, 'text/plain', ''],
    ['an error in another JSON format', 404, 'application/json', '{"message":"Not Found"}'],
    ['an error that is not a text', 400, 'application/json', '{"error":{"code":7}}'],
  ])('%s', async (_, status, type, body) => {
    const url = await answering(status, type, body)
    await expect(connect(url)).rejects.toThrow(
      /^The server at http:\/\/127\.0\.0\.1:\d+\/_control\/main is not .*\(it responded with .{1,40}\)\. .*"npx stuntdouble serve"\.$/,
    )
  })
})
