import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { latin1 } from '../../src/kernel/bytes.js'
import type { Connection, Connector } from './adapter.js'
import { allBytes, type Echo, EchoWorld, numberedHeaders } from './echo-world.js'

const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes as Uint8Array).toString('base64')

/** Requirements for every adapter, regardless of its target. */
export function echoSuite({ passesOtherOrigins, exceptions = [], streamError, connect }: Connector): void {
  describe('the echo service', () => {
    let world: EchoWorld
    let connection: Connection
    let closed: boolean
    let base: string

    const close = async (): Promise<void> => {
      if (closed) return
      closed = true
      await connection.close()
    }

    beforeEach(async () => {
      closed = false
      world = new EchoWorld()
      base = world.urls.store
      connection = await connect(world)
    })
    afterEach(async () => {
      world.release()
      await close()
    })

    const NetworkError = exceptions.includes('errors are no TypeErrors') ? Error : TypeError
    const send = (path: string, init?: RequestInit): Promise<Response> => connection.fetch(base + path, init)
    const echoed = async (path: string, init?: RequestInit): Promise<Echo> =>
      (await send(path, init)).json() as Promise<Echo>

    describe('requests', () => {
      test('carries every method', async () => {
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
          expect(await echoed('/echo', { method })).toMatchObject({ method, body: '' })
      })

      test('carries HEAD, and a response without a body', async () => {
        const answer = await send('/echo', { method: 'HEAD' })
        expect(world.received[0]?.method).toBe('HEAD')
        expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
          200,
          'application/json',
          '',
        ])
      })

      test('leaves paths and queries as they were written', async () => {
        const paths = [
          '/echo/a%2Fb/c%20d//e+f/%7e/',
          '/echo/https://shop.test//a?b=2&a=1&b=3&c&d=%20+&e=',
          '/echo/%00%ff',
          '/echo?_token=a%3D%3D',
          "/echo/it's-(ok)!*~;,:@$&=",
        ]
        for (const path of paths) expect((await echoed(path)).url).toBe(base + path)
      })

      test('carries headers: empty ones, and more than 100', async () => {
        const own = { Authorization: 'Bearer t', 'Service-Encoding': 'base64', 'x-empty': '' }
        const headers = { ...own, ...Object.fromEntries(numberedHeaders) }
        const received = (await echoed('/echo', { method: 'POST', body: 'text', headers })).headers
        expect(received).toMatchObject({
          authorization: 'Bearer t',
          'service-encoding': 'base64',
          'x-empty': '',
          // fetch adds this header.
          'content-type': 'text/plain;charset=UTF-8',
          ...Object.fromEntries(numberedHeaders),
        })
      })

      test('carries bodies of every type', async () => {
        const bodies: readonly [string, () => BodyInit, string][] = [
          ['a text', () => 'grüße', base64('grüße')],
          ['bytes', () => allBytes, base64(allBytes)],
          ['part of a buffer', () => allBytes.subarray(100, 103), base64(allBytes.subarray(100, 103))],
          ['an array buffer', () => allBytes.slice().buffer, base64(allBytes)],
          ['form values', () => new URLSearchParams({ a: '1 2' }), base64('a=1+2')],
          ['a blob', () => new Blob([allBytes]), base64(allBytes)],
        ]
        for (const [what, body, expected] of bodies)
          expect((await echoed('/echo', { method: 'POST', body: body() })).body, what).toBe(expected)
      })

      test('carries a streamed body', async () => {
        const body = new ReadableStream({
          async start(controller) {
            controller.enqueue(new TextEncoder().encode('one '))
            await new Promise((resolve) => setImmediate(resolve))
            controller.enqueue(new TextEncoder().encode('two'))
            controller.close()
          },
        })
        const init = { method: 'POST', body, duplex: 'half' } as RequestInit
        expect((await echoed('/echo', init)).body).toBe(base64('one two'))
      })

      test('carries 300 kB in both directions', async () => {
        const large = new Uint8Array(300_000).map((_, index) => (index * 31) % 256)
        const { body } = await echoed('/echo', { method: 'POST', body: large })
        expect(Buffer.from(body, 'base64').equals(large)).toBe(true)
      })

      test('takes a Request and a URL as well as a text', async () => {
        const request = new Request(`${base}/echo/request`, { method: 'PUT', body: 'b', headers: { 'x-own': '1' } })
        const ofRequest = (await (await connection.fetch(request)).json()) as Echo
        expect(ofRequest).toMatchObject({ method: 'PUT', url: `${base}/echo/request`, body: base64('b') })
        expect(ofRequest.headers['x-own']).toBe('1')
        const ofUrl = (await (await connection.fetch(new URL(`${base}/echo/url?a=b`))).json()) as Echo
        expect(ofUrl.url).toBe(`${base}/echo/url?a=b`)
      })

      test.skipIf(exceptions.includes('a body on GET is taken'))('rejects a body on GET as fetch does', async () => {
        await expect(send('/echo', { body: 'b' })).rejects.toThrow(TypeError)
      })

      test('gives each of 20 concurrent requests its own response', async () => {
        const urls = await Promise.all(Array.from({ length: 20 }, (_, index) => echoed(`/echo/${index}`)))
        expect(urls.map(({ url }) => url)).toEqual(Array.from({ length: 20 }, (_, index) => `${base}/echo/${index}`))
      })
    })

    describe('responses', () => {
      test('carries statuses with their headers and bodies', async () => {
        for (const status of [200, 201, 400, 401, 404, 405, 412, 413, 429, 500, 503]) {
          const answer = await send(`/status/${status}`)
          expect([answer.status, answer.headers.get('x-own'), await answer.text()]).toEqual([status, 'yes', 'text'])
          expect([answer.ok, answer.redirected, answer.type === 'error']).toEqual([status < 300, false, false])
        }
        const empty = await send('/status/204')
        expect([empty.status, await empty.text()]).toEqual([204, ''])
      })

      test('carries headers: repeated ones, empty ones, and more than 100', async () => {
        const { headers } = await send('/headers')
        expect(headers.getSetCookie()).toEqual(['a=1', 'b=2; path=/'])
        expect([...headers].filter(([name]) => name.startsWith('x-')).sort()).toEqual(
          [['x-empty', ''], ...numberedHeaders].sort(),
        )
      })

      test('carries every byte', async () => {
        const answer = await send('/bytes')
        expect(answer.headers.get('content-type')).toBe('application/octet-stream')
        expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([...allBytes])
      })
    })

    if (streamError !== undefined) {
      test('fails for an event stream with an error that names alternatives', async () => {
        const refused = await send('/stream', { method: 'POST' }).catch((error: unknown) => error)
        expect(refused).toBeInstanceOf(NetworkError)
        expect(String((refused as Error).cause ?? refused)).toContain(streamError)
        await vi.waitFor(() => expect(world.streamEnds).toEqual(['aborted']))
      })
    } else {
      describe('event streams', () => {
        const decoder = new TextDecoder()
        const open = async (init: RequestInit = {}) => {
          const answer = await send('/stream', { method: 'POST', ...init })
          expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
          return answer.body!.getReader()
        }
        /** Events may arrive in chunks of any size, so this reads until enough have arrived. */
        const events = async (reader: ReadableStreamDefaultReader<Uint8Array>, count: number): Promise<string> => {
          let text = ''
          while (text.split('\n\n').length <= count) {
            const { done, value } = await reader.read()
            if (done) break
            text += decoder.decode(value)
          }
          return text
        }

        test('carries events while the stream is open, until the service closes it', async () => {
          const reader = await open()
          expect(await events(reader, 1)).toBe('data: first\n\n')
          const [stream] = world.streams
          stream!.send(latin1('second'))
          stream!.send(latin1('th\xc3\xafrd'))
          expect(await events(reader, 2)).toBe('data: second\n\ndata: thïrd\n\n')
          stream!.close()
          expect((await reader.read()).done).toBe(true)
          expect(world.streamEnds).toEqual(['closed'])
        })

        const seesCancels = !exceptions.includes('a stream does not see that its client stopped reading')
        test.runIf(seesCancels)('ends the stream when its client stops reading', async () => {
          const reader = await open()
          await events(reader, 1)
          await reader.cancel()
          await vi.waitFor(() => expect(world.streamEnds).toEqual(['aborted']))
        })

        test('ends the stream when its client aborts', async () => {
          const client = new AbortController()
          const reader = await open({ signal: client.signal })
          await events(reader, 1)
          const read = reader.read()
          client.abort()
          await expect(read).rejects.toMatchObject({ name: 'AbortError' })
          await vi.waitFor(() => expect(world.streamEnds).toEqual(['aborted']))
        })
      })
    }

    describe('waiting, aborts and errors', () => {
      test('does not send a request that was aborted before', async () => {
        await expect(send('/echo', { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
        if (exceptions.includes('what was aborted before is sent'))
          await vi.waitFor(() => expect(world.received).toHaveLength(1))
        else expect(world.received).toEqual([])
      })

      test('releases a client that aborts while it waits, and shows the service that it did', async () => {
        const client = new AbortController()
        const answer = send('/slow', { signal: client.signal })
        await vi.waitFor(() => expect(world.received).toHaveLength(1))
        client.abort()
        await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
        if (exceptions.includes('the service does not see aborts')) return
        await vi.waitFor(() => expect(world.received[0]?.signal?.aborted).toBe(true))
      })

      // This test stays between its neighbors: with nock, a broken connection right after an abort leaves a socket in
      // the pool of fetch, which throws inside undici when 'carries no requests after it is closed' uses it.
      test('carries a response that takes its time', async () => {
        const answer = send('/slow')
        await vi.waitFor(() => expect(world.received).toHaveLength(1))
        world.release()
        expect(await (await answer).text()).toBe('slow')
      })

      test('turns a connection that breaks, before or after a wait, into a network error', async () => {
        for (const path of ['/broken', '/lost'])
          await expect(send(path, { method: 'POST', body: 'b' }), path).rejects.toThrow(NetworkError)
      })
    })

    test('carries no requests after it is closed', async () => {
      await close()
      await send('/echo', { signal: AbortSignal.timeout(200) }).catch(() => undefined)
      expect(world.received).toEqual([])
    })

    test.runIf(passesOtherOrigins)('leaves requests to other origins alone', async () => {
      const origin = await otherOrigin()
      const answer = await connection.fetch(`${origin}/a?b=1`, { method: 'POST', body: 'x' })
      expect(await answer.text()).toBe('other POST /a?b=1')
      expect(world.received).toEqual([])
    })
  })
}

/** A server that lives as long as the test. */
async function otherOrigin(): Promise<string> {
  const server = createServer((request, response) => response.end(`other ${request.method} ${request.url}`))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
