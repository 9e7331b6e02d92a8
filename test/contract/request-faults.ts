import { type Fault, type FaultAt, type FaultConditions, fault } from 'stuntdouble'
import { expect } from 'vitest'
import { type Case, type Client, one, transport } from './client.js'

// Effects that a client must observe for a fault of its request, through any adapter.

/** Effects of faults through an adapter that cannot show all of them. The catalog and the pages state the same. */
export interface FaultVisibility {
  /** Effect that is observed instead, by the `fault` of the case. */
  readonly instead?: Readonly<Record<string, object>>
  /** Codes of network errors, if an adapter does not distinguish them. */
  readonly networkErrors?: RegExp
  /** How readers of a stream notice that it broke off, if not by an error after its last event. */
  readonly streams?: 'break quietly' | 'lose their end'
  /** Whether the adapter hides headers such as Retry-After from the client. */
  readonly headers?: 'hidden'
}

interface Seen {
  status?: number
  type?: string | null
  retryAfter?: string | null
  body?: string
  /** Text that could be read before the break. */
  part?: string
  /** Error that the client received instead of a response, or of the rest of its body. */
  error?: string
  code?: string
  /** Virtual milliseconds until the head, and until the end. */
  head?: number
  end?: number
}

/** Sends a command and reads the response. Time moves until there is an end. */
async function look({ sandbox, fetch }: Client, url: string, token: string): Promise<Seen> {
  const since = sandbox.clock.now()
  const past = (): number => sandbox.clock.now() - since
  const out: Seen = {}
  let over = false
  const read = async (): Promise<void> => {
    try {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
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
  // A request over a socket, or through msw, needs turns of the event loop to arrive.
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

/** Codes in the cause of a rejected fetch: the actual error, if the adapter can distinguish it. */
const codes: Partial<Record<Fault['kind'], string>> = {
  reset: 'ECONNRESET',
  refused: 'ECONNREFUSED',
  'unresolved-host': 'ENOTFOUND',
  'bad-certificate': 'CERT_HAS_EXPIRED',
}

/**
 * Creates a case for a fault of a request that increments `a`. @param stored value of `a` afterwards: whether the
 * request was processed
 */
export function seen(
  title: string,
  fault: FaultAt<'store.request'>,
  expected: object,
  stored: string | null,
  more: FaultConditions = {},
): Case {
  const need = fault.kind === 'half-open' || fault.kind === 'truncate' ? 'partial' : 'fault'
  const run: Case['run'] = async (client) => {
    const { sandbox, visibility } = client
    sandbox.faults.add({ on: 'store.request', fault, ...more })
    const found = await look(client, `${sandbox.urls.store}/incr/a`, sandbox.tokens.store)
    expect(found).toMatchObject(visibility.instead?.[title] ?? expected)
    if (found.error !== undefined) expect(found.body).toBeUndefined()
    expect(sandbox.store.get('a')).toBe(stored)
    expect(sandbox.traffic.ofType('fault').map(({ fault: kind }) => kind)).toEqual([fault.kind])
    const code = codes[fault.kind]
    if (code === undefined || found.error === undefined) return
    if (visibility.networkErrors !== undefined) expect(found.code).toMatch(visibility.networkErrors)
    else expect(found.code).toBe(code)
  }
  return { title: `shows the client: ${title}`, need, run, fault: title }
}

/** Codes of network errors, which an adapter may have to translate. */
export const networkErrors: Case = transport(
  'fault',
  'turns each network error into a rejected fetch',
  async (client) => {
    const { sandbox, visibility } = client
    const faults = [
      [fault.reset(), 'ECONNRESET'],
      [fault.refused(), 'ECONNREFUSED'],
      [fault.unresolvedHost(), 'ENOTFOUND'],
      [fault.badCertificate(), 'CERT_HAS_EXPIRED'],
      [fault.hang(), 'ETIMEDOUT'],
    ] as const
    for (const [fault, code] of faults) {
      sandbox.faults.add({ on: 'store.request', times: 1, fault })
      const found = await look(client, `${sandbox.urls.store}/incr/a`, sandbox.tokens.store)
      expect(found, fault.kind).toMatchObject(noAnswer)
      expect(found.code, fault.kind).toMatch(visibility.networkErrors ?? code)
    }
    expect(sandbox.store.get('a')).toBeNull()
  },
)

/** Cases for `Retry-After` in both forms. */
export const retryAfter: readonly Case[] = (
  [
    [transport, 'seconds', '2'],
    [one, 'date', 'Tue, 01 Jan 2030 09:00:02 GMT'],
  ] as const
).map(([define, form, value]) =>
  define('fault', `shows the client a rate limit with Retry-After as ${form}`, async (client) => {
    const { sandbox, visibility } = client
    sandbox.faults.add({ on: 'queue.request', fault: fault.rateLimited({ limit: 'burst', retryAfter: '2s', form }) })
    const found = await look(client, `${sandbox.urls.queue}/v2/keys`, sandbox.tokens.queue)
    expect(found).toMatchObject({ status: 429, retryAfter: visibility.headers === 'hidden' ? null : value })
  }),
)

export const brokenStream: Case = one('stream', 'breaks a stream after an event: cut-stream', (client) =>
  listened(client, fault.cutStream(1), 'data: subscribe,c,1\n\ndata: message,c,a\n\n', 'broken'),
)

export const stalledStream: Case = one('stream', 'holds events for a while, then sends them: stall-stream', (client) =>
  listened(
    client,
    fault.stallStream(1, '30s'),
    'data: subscribe,c,1\n\ndata: message,c,a\n\ndata: message,c,b\n\n',
    'open',
  ),
)

/** Subscribes, publishes two messages, and reads until the text has arrived. */
async function listened(
  { sandbox, visibility, fetch }: Client,
  fault: FaultAt<'stream.open'>,
  text: string,
  end: 'broken' | 'open',
): Promise<void> {
  sandbox.faults.add({ on: 'stream.open', fault })
  const client = new AbortController()
  const answer = await fetch(`${sandbox.urls.store}/subscribe/c`, {
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
  const lossy = end === 'broken' && visibility.streams === 'lose their end'
  await expect
    .poll(async () => {
      await sandbox.clock.advance('10s')
      return lossy ? state === 'broken' && text.startsWith(told) : told === text || told
    })
    .toBe(true)
  if (end === 'broken') await reading
  expect(state).toBe(end === 'broken' && visibility.streams === 'break quietly' ? 'closed' : end)
  client.abort()
  await reading
}
