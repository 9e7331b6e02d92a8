import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { latin1 } from '../../src/kernel/bytes.js'
import type { Leading, Led } from './adapter.js'
import { allBytes, type Echo, EchoWorld } from './echo-world.js'

const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes as Uint8Array).toString('base64')

/** What every adapter must do, whatever lies behind it. */
export function echoSuite({ passesForeign, exceptions = [], refusesStreams, lead }: Leading): void {
  describe('a world of echoes', () => {
    let world: EchoWorld
    let opened: Led
    let foreign: Server | undefined
    let closed: boolean
    let base: string

    const close = async (): Promise<void> => {
      if (closed) return
      closed = true
      await opened.close()
    }

    beforeEach(async () => {
      closed = false
      world = new EchoWorld()
      base = world.addresses.store
      opened = await lead(world)
    })
    afterEach(async () => {
      world.release()
      await close()
      await new Promise((resolve) => (foreign ? foreign.close(resolve) : resolve(undefined)))
      foreign = undefined
    })

    const NetworkError = exceptions.includes('errors are no TypeErrors') ? Error : TypeError
    const send = (path: string, init?: RequestInit): Promise<Response> => opened.fetch(base + path, init)
    const echoed = async (path: string, init?: RequestInit): Promise<Echo> =>
      (await send(path, init)).json() as Promise<Echo>

    describe('requests', () => {
      test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s arrives', async (method) => {
        expect(await echoed('/echo', { method })).toMatchObject({ method, body: '' })
      })

      test('HEAD arrives, and its answer has no body', async () => {
        const answer = await send('/echo', { method: 'HEAD' })
        expect(world.received[0]?.method).toBe('HEAD')
        expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
          200,
          'application/json',
          '',
        ])
      })

      test.each([
        '/echo/a%2Fb/c%20d//e+f/%7e/',
        '/echo/https://shop.test//a?b=2&a=1&b=3&c&d=%20+&e=',
        '/echo/%00%ff',
        '/echo?_token=a%3D%3D',
        "/echo/it's-(ok)!*~;,:@$&=",
      ])('path and query arrive as they were written: %s', async (path) => {
        expect((await echoed(path)).url).toBe(base + path)
      })

      test('headers arrive', async () => {
        const headers = { Authorization: 'Bearer t', 'Service-Encoding': 'base64', 'x-empty': '' }
        expect((await echoed('/echo', { method: 'POST', headers })).headers).toMatchObject({
          authorization: 'Bearer t',
          'service-encoding': 'base64',
          'x-empty': '',
        })
      })

      test.each([
        ['a text', () => 'grüße', base64('grüße')],
        ['bytes', () => allBytes, base64(allBytes)],
        ['part of a buffer', () => allBytes.subarray(100, 103), base64(allBytes.subarray(100, 103))],
        ['an array buffer', () => allBytes.slice().buffer, base64(allBytes)],
        ['form values', () => new URLSearchParams({ a: '1 2' }), base64('a=1+2')],
        ['a blob', () => new Blob([allBytes]), base64(allBytes)],
      ])('a body that is %s arrives', async (_, body, expected) => {
        expect((await echoed('/echo', { method: 'POST', body: body() })).body).toBe(expected)
      })

      test('a streamed body arrives', async () => {
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

      test('a text gets the content type that fetch gives it', async () => {
        const { headers } = await echoed('/echo', { method: 'POST', body: 'text' })
        expect(headers['content-type']).toBe('text/plain;charset=UTF-8')
      })

      test('three megabytes survive both ways', async () => {
        const large = new Uint8Array(3_000_000).map((_, index) => (index * 31) % 256)
        const { body } = await echoed('/echo', { method: 'POST', body: large })
        expect(Buffer.from(body, 'base64').equals(large)).toBe(true)
      })

      test('a Request and a URL are taken as well as a text', async () => {
        const request = new Request(`${base}/echo/request`, { method: 'PUT', body: 'b', headers: { 'x-own': '1' } })
        const ofRequest = (await (await opened.fetch(request)).json()) as Echo
        expect(ofRequest).toMatchObject({ method: 'PUT', url: `${base}/echo/request`, body: base64('b') })
        expect(ofRequest.headers['x-own']).toBe('1')
        const ofUrl = (await (await opened.fetch(new URL(`${base}/echo/url?a=b`))).json()) as Echo
        expect(ofUrl.url).toBe(`${base}/echo/url?a=b`)
      })

      test.skipIf(exceptions.includes('a body on GET is taken'))('a body on GET is refused as fetch does', async () => {
        await expect(send('/echo', { body: 'b' })).rejects.toThrow(TypeError)
      })

      test('requests sent at once get each their own answer', async () => {
        const urls = await Promise.all(Array.from({ length: 20 }, (_, index) => echoed(`/echo/${index}`)))
        expect(urls.map(({ url }) => url)).toEqual(Array.from({ length: 20 }, (_, index) => `${base}/echo/${index}`))
      })
    })

    describe('answers', () => {
      test.each([200, 201, 400, 401, 404, 405, 412, 413, 429, 500, 503])(
        'status %i, with headers and body',
        async (status) => {
          const answer = await send(`/status/${status}`)
          expect([answer.status, answer.headers.get('x-own'), await answer.text()]).toEqual([status, 'yes', 'text'])
          expect([answer.ok, answer.redirected, answer.type === 'error']).toEqual([status < 300, false, false])
        },
      )

      test('status 204 has no body', async () => {
        const answer = await send('/status/204')
        expect([answer.status, await answer.text()]).toEqual([204, ''])
      })

      test('every byte survives', async () => {
        const answer = await send('/bytes')
        expect(answer.headers.get('content-type')).toBe('application/octet-stream')
        expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([...allBytes])
      })
    })

    if (refusesStreams !== undefined) {
      test('an event stream fails with a sentence that says what to use', async () => {
        const refused = await send('/stream', { method: 'POST' }).catch((error: unknown) => error)
        expect(refused).toBeInstanceOf(NetworkError)
        expect(String((refused as Error).cause ?? refused)).toContain(refusesStreams)
        await vi.waitFor(() => expect(world.streamEnds).toEqual(['aborted']))
      })
    }

    describe.runIf(refusesStreams === undefined)('event streams', () => {
      const decoder = new TextDecoder()
      const open = async (init: RequestInit = {}) => {
        const answer = await send('/stream', { method: 'POST', ...init })
        expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
        return answer.body!.getReader()
      }
      /** Events may arrive in chunks of any size: reads until so many have come. */
      const events = async (reader: ReadableStreamDefaultReader<Uint8Array>, count: number): Promise<string> => {
        let text = ''
        while (text.split('\n\n').length <= count) {
          const { done, value } = await reader.read()
          if (done) break
          text += decoder.decode(value)
        }
        return text
      }

      test('events arrive while the stream is open, until it is closed', async () => {
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

      const seesCancels = !exceptions.includes('a stream does not see that its reader has stopped')
      test.runIf(seesCancels)('a client that stops reading ends it', async () => {
        const reader = await open()
        await events(reader, 1)
        await reader.cancel()
        await vi.waitFor(() => expect(world.streamEnds).toEqual(['aborted']))
      })

      test('a client that aborts ends it', async () => {
        const client = new AbortController()
        const reader = await open({ signal: client.signal })
        await events(reader, 1)
        const read = reader.read()
        client.abort()
        await expect(read).rejects.toMatchObject({ name: 'AbortError' })
        await vi.waitFor(() => expect(world.streamEnds).toEqual(['aborted']))
      })
    })

    describe('broken off', () => {
      test('a client that aborted before does not send', async () => {
        await expect(send('/echo', { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
        if (exceptions.includes('what was aborted before is sent'))
          await vi.waitFor(() => expect(world.received).toHaveLength(1))
        else expect(world.received).toEqual([])
      })

      test('a client that aborts while it waits is released, and the service can see it', async () => {
        const client = new AbortController()
        const answer = send('/slow', { signal: client.signal })
        await vi.waitFor(() => expect(world.received).toHaveLength(1))
        client.abort()
        await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
        if (exceptions.includes('the service does not see aborts')) return
        await vi.waitFor(() => expect(world.received[0]?.signal?.aborted).toBe(true))
      })

      test('an answer that takes its time arrives', async () => {
        const answer = send('/slow')
        await vi.waitFor(() => expect(world.received).toHaveLength(1))
        world.release()
        expect(await (await answer).text()).toBe('slow')
      })

      test.each(['/broken', '/lost'])('a connection that breaks is a network error: %s', async (path) => {
        await expect(send(path, { method: 'POST', body: 'b' })).rejects.toThrow(NetworkError)
      })
    })

    test('once it is closed, nothing arrives any more', async () => {
      await close()
      await send('/echo', { signal: AbortSignal.timeout(200) }).catch(() => undefined)
      expect(world.received).toEqual([])
    })

    if (passesForeign) {
      test('requests to other origins are left alone', async () => {
        foreign = createServer((request, response) => response.end(`foreign ${request.method} ${request.url}`))
        await new Promise<void>((resolve) => foreign!.listen(0, '127.0.0.1', resolve))
        const { port } = foreign.address() as AddressInfo
        const answer = await opened.fetch(`http://127.0.0.1:${port}/a?b=1`, { method: 'POST', body: 'x' })
        expect(await answer.text()).toBe('foreign POST /a?b=1')
        expect(world.received).toEqual([])
      })
    }
  })
}
