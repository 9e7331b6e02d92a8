import { afterEach, describe, expect, test } from 'vitest'
import {
  badCertificate,
  contentType,
  corruptJson,
  cutStream,
  duplicate,
  type Fault,
  type FaultRule,
  halfOpen,
  hang,
  lateAnswer,
  latency,
  lostAck,
  outage,
  quota,
  rateLimited,
  refused,
  reset,
  restart,
  revokedToken,
  type Sandbox,
  slowBody,
  stallStream,
  status,
  truncate,
  unresolved,
} from '../../src/index.js'

// Every fault of a request, as a client must see it on whatever way its request comes.

export interface Way {
  readonly sandbox: Sandbox
  readonly fetch: typeof globalThis.fetch
}

/** What a way cannot carry; catalog and pages say the same. */
export interface Limits {
  /** What is seen instead, by the name of the case. */
  readonly instead?: Readonly<Record<string, object>>
  /** Codes of network errors, where a way does not tell them apart. */
  readonly networkErrors?: RegExp
  /** Whether streams come at all, and whether their readers can tell that they broke off. */
  readonly streams?: 'none' | 'break quietly' | 'lose their end'
  /** Whether headers such as Retry-After are kept from the client. */
  readonly headers?: 'hidden'
}

interface Seen {
  status?: number
  type?: string | null
  retryAfter?: string | null
  body?: string
  /** What could be read before it broke. */
  part?: string
  /** What the client was told instead of an answer, or of the rest of its body. */
  error?: string
  code?: string
  /** Virtual milliseconds until the head, and until the end. */
  head?: number
  end?: number
}

/** Sends a command and reads what comes; time moves on until there is an end. */
async function seen({ sandbox, fetch }: Way, path: string, token: string, init: RequestInit = {}): Promise<Seen> {
  const since = sandbox.clock.now()
  const past = (): number => sandbox.clock.now() - since
  const out: Seen = {}
  let over = false
  const read = async (): Promise<void> => {
    try {
      const answer = await fetch(path, { ...init, headers: { authorization: `Bearer ${token}` } })
      Object.assign(out, { status: answer.status, type: answer.headers.get('content-type'), head: past() })
      out.retryAfter = answer.headers.get('retry-after')
      const decoder = new TextDecoder()
      out.part = ''
      const reader = answer.body?.getReader()
      for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read()) {
        out.part += decoder.decode(chunk.value)
      }
      out.body = out.part
    } catch (error) {
      out.error = (error as Error).message
      out.code = ((error as Error).cause as { code?: string } | undefined)?.code ?? ''
    }
    out.end = past()
    over = true
  }
  void read()
  // A request over a socket, or through msw, takes turns of the event loop to arrive.
  while (!over) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    await sandbox.clock.drain()
  }
  return out
}

export const increment = { status: 200, body: '{"result":1}' }
export const noAnswer = { error: 'fetch failed' }
export const broken = (part: string): object => ({
  status: 200,
  part,
  error: expect.stringMatching(/terminated|aborted|other side closed/),
})

/** What a client must see, whatever the way. `stored`: whether the work was done. */
export const cases: readonly [
  name: string,
  fault: Fault,
  expected: object,
  stored: string | null,
  more?: Partial<FaultRule>,
][] = [
  ['status', status(503), { status: 503, body: '{"error":"service unavailable"}' }, null],
  ['latency', latency('300ms'), { ...increment, head: 300 }, '1'],
  ['reset', reset(), noAnswer, null],
  ['reset after', reset(), noAnswer, '1', { phase: 'after' }],
  ['refused', refused(), noAnswer, null],
  ['unresolved', unresolved(), noAnswer, null],
  ['certificate', badCertificate(), noAnswer, null],
  ['hang', hang('20s'), { ...noAnswer, end: 20_000 }, null],
  ['half-open', halfOpen('20s'), { ...broken(''), head: 0, end: 20_000 }, '1'],
  ['truncate', truncate(8), broken('{"result'), '1'],
  ['truncate at once', truncate(0), broken(''), '1'],
  ['corrupt-json', corruptJson(), { status: 200, body: '{"result":1<' }, '1'],
  ['slow-body', slowBody(4), { ...increment, head: 0, end: 3000 }, '1'],
  ['content-type', contentType('text/html'), { ...increment, type: 'text/html' }, '1'],
  ['lost-ack', lostAck(), noAnswer, '1'],
  ['late-answer', lateAnswer('20s'), { ...increment, head: 20_000 }, '1'],
  ['duplicate', duplicate(), increment, '2'],
  ['revoked-token', revokedToken(), { status: 401 }, null],
  ['quota', quota(), { status: 400 }, null],
  ['restart', restart(), noAnswer, '1'],
  ['outage', outage({ status: 502 }), { status: 502 }, null],
  ['outage without a status', outage(), noAnswer, null],
]

/** Codes in the cause of a rejected fetch: what really happened, where the way can tell. */
const codes: Partial<Record<Fault['kind'], string>> = {
  reset: 'ECONNRESET',
  refused: 'ECONNREFUSED',
  unresolved: 'ENOTFOUND',
  certificate: 'CERT_HAS_EXPIRED',
}

export function faultContract(
  name: string,
  open: (ends: (() => unknown)[]) => Promise<Way>,
  limits: Limits = {},
): void {
  describe(`through ${name}`, () => {
    const ends: (() => unknown)[] = []
    const close = async (): Promise<void> => {
      for (const end of ends.splice(0).reverse()) await end()
    }
    afterEach(close)

    test.each(cases)('%s', async (title, fault, expected, stored, more = {}) => {
      const way = await open(ends)
      const { sandbox } = way
      sandbox.faults.add({ on: 'store.request', fault, ...more })
      const found = await seen(way, `${sandbox.addresses.store}/incr/a`, sandbox.tokens.store)
      expect(found).toMatchObject(limits.instead?.[title] ?? expected)
      if (found.error !== undefined) expect(found.body).toBeUndefined()
      expect(sandbox.store.get('a')).toBe(stored)
      expect(sandbox.traffic.of('fault').map(({ fault: kind }) => kind)).toEqual([fault.kind])
      const code = codes[fault.kind]
      if (code === undefined || found.error === undefined) return
      if (limits.networkErrors !== undefined) expect(found.code).toMatch(limits.networkErrors)
      else expect(found.code).toBe(code)
    })

    test.each([
      ['seconds', '2'],
      ['date', 'Tue, 01 Jan 2030 00:00:02 GMT'],
    ] as const)('rate-limited, Retry-After as %s', async (form, value) => {
      const way = await open(ends)
      const { sandbox } = way
      sandbox.faults.add({ on: 'queue.request', fault: rateLimited('burst', '2s', form) })
      const found = await seen(way, `${sandbox.addresses.queue}/v2/keys`, sandbox.tokens.queue)
      expect(found).toMatchObject({ status: 429, retryAfter: limits.headers === 'hidden' ? null : value })
    })

    if (limits.streams === 'none') return

    test('a stream that breaks off, and one that stalls', async () => {
      for (const [fault, text, end] of [
        [cutStream(1), 'data: subscribe,c,1\n\ndata: message,c,a\n\n', 'broken'],
        [stallStream(1, '30s'), 'data: subscribe,c,1\n\ndata: message,c,a\n\ndata: message,c,b\n\n', 'open'],
      ] as const) {
        const way = await open(ends)
        const { sandbox } = way
        sandbox.faults.add({ on: 'stream.open', fault })
        const client = new AbortController()
        const answer = await way.fetch(`${sandbox.addresses.store}/subscribe/c`, {
          headers: { authorization: `Bearer ${sandbox.tokens.store}` },
          signal: client.signal,
        })
        const reader = answer.body!.getReader()
        let told = ''
        let state = 'open'
        const reading = (async () => {
          const decoder = new TextDecoder()
          try {
            for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
              told += decoder.decode(chunk.value).replace(/^: .*\n\n/gm, '')
            state = 'closed'
          } catch {
            state = 'broken'
          }
        })()
        sandbox.store.run('PUBLISH', 'c', 'a')
        sandbox.store.run('PUBLISH', 'c', 'b')
        const lossy = end === 'broken' && limits.streams === 'lose their end'
        await expect
          .poll(async () => {
            await sandbox.clock.advance('10s')
            return lossy ? state === 'broken' && text.startsWith(told) : told === text || told
          })
          .toBe(true)
        if (end === 'broken') await reading
        expect(state).toBe(end === 'broken' && limits.streams === 'break quietly' ? 'closed' : end)
        client.abort()
        await reading
        await close()
      }
    }, 20_000)
  })
}
