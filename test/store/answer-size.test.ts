import { describe, expect, it } from 'vitest'
import { latin1 } from '../../src/kernel/bytes.js'
import { nilArray, ok, type Reply } from '../../src/store/command/reply.js'
import { base64, json, plain, ResponseTooLarge, resp2 } from '../../src/store/rest/rest-responses.js'
import { Rest } from '../support/ask.js'

// policy.maxResponseSize, a limit of this package. The encoded bytes are measured.

const limit = 1_000
const refused = (end: string) => ({
  error: `ERR max response size exceeded. Limit: ${limit} bytes for all replies to one request. ${end}. Request less data per request, or raise policy.maxResponseSize`,
})
const withheld = refused('The command ran, but its reply is not sent')
const notRun = refused('The command was not run')

async function opened(value = 'x'.repeat(300)): Promise<Rest> {
  const rest = Rest.open({ policy: { maxResponseSize: limit } })
  await rest.run('SET', 'k', value)
  return rest
}

describe('policy.maxResponseSize', () => {
  it('ends a pipeline: later commands are not run', async () => {
    const rest = await opened()
    const rows = [
      ['GET', 'k'],
      ['GET', 'k'],
      ['GET', 'k'],
      ['GETDEL', 'k'],
      ['INCR', 'n'],
      ['GET', 'k'],
    ]
    const { status, json: items } = await rest.post('/pipeline', rows)
    expect(status).toBe(200)
    expect(items).toEqual([...Array.from({ length: 3 }, () => ({ result: 'x'.repeat(300) })), withheld, notRun, notRun])
    expect(await rest.run('EXISTS', 'k', 'n')).toBe(0)
  })

  it('withholds replies of a transaction, all commands of which run', async () => {
    const rest = await opened()
    const rows = [
      ['GET', 'k'],
      ['GET', 'k'],
      ['GET', 'k'],
      ['GET', 'k'],
      ['INCR', 'n'],
      ['DEL', 'k'],
    ]
    const { json: items } = await rest.post('/multi-exec', rows)
    expect(items).toEqual([
      ...Array.from({ length: 3 }, () => ({ result: 'x'.repeat(300) })),
      withheld,
      withheld,
      withheld,
    ])
    expect([await rest.run('GET', 'n'), await rest.run('EXISTS', 'k')]).toEqual(['1', 0])
  })

  it('returns an error for one command, which has run', async () => {
    const rest = await opened('x'.repeat(995))
    expect(await rest.get('/getdel/k')).toMatchObject({ status: 200, json: withheld })
    expect(await rest.run('EXISTS', 'k')).toBe(0)
  })

  it.each([
    ['escapes', '\x01'.repeat(200)],
    ['quotes', '"'.repeat(600)],
  ])('measures the encoded bytes: %s', async (_, value) => {
    const rest = await opened(value)
    expect(await rest.run('STRLEN', 'k')).toBe(value.length)
    expect((await rest.get('/get/k')).json).toEqual(withheld)
  })
})

describe('encoders', () => {
  const replies: readonly Reply[] = [
    latin1('plain'),
    latin1('\x00\x01"\\\n'),
    latin1('\xff\xfe\xc3'),
    latin1('\xc3\xa4\xe2\x82\xac'),
    latin1(''),
    null,
    nilArray,
    ok,
    12,
    -3n,
    [],
    [null, [latin1('a'), 1, [latin1('"')]], ok],
    Array.from({ length: 500 }, () => null),
  ]
  const encoders = {
    json: (reply: Reply, room?: number) => json(reply, plain, room),
    base64: (reply: Reply, room?: number) => json(reply, base64, room),
    resp2,
  }

  it.each(Object.entries(encoders))('%s uses exactly its measured size', (_, encode) => {
    for (const reply of replies) {
      const { length } = encode(reply)
      expect(encode(reply, length)).toHaveLength(length)
      expect(() => encode(reply, length - 1)).toThrow(ResponseTooLarge)
    }
  })
})

describe('strings longer than every reply', () => {
  it.each(['/get/big', '/getrange/big/0/-1', '/getex/big', '/digest/big', '/incr/big'])(
    "are rejected with the service's error: %s",
    async (path) => {
      const rest = Rest.open({ policy: { maxWork: 20_000_000 } })
      await rest.run('SETRANGE', 'big', 536_870_900, 'x')
      const answer = await rest.get(path)
      expect(answer.status).toBeLessThan(500)
      expect(answer.json).toEqual({ error: expect.stringContaining('ERR max request size exceeded.') })
      expect(await rest.run('GETRANGE', 'big', -3, -1)).toBe('\0\0x')
    },
  )

  it('cannot grow without limit', async () => {
    const rest = Rest.open({ policy: { maxWork: 20_000_000 } })
    await rest.run('SETRANGE', 'big', 536_870_900, 'x')
    expect((await rest.get('/append/big/twelve-bytes')).json).toEqual({
      error: 'ERR string exceeds maximum allowed size (proto-max-bulk-len)',
    })
  })
})
