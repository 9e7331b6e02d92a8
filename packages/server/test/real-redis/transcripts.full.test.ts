import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { latin1 } from '../../../../src/kernel/bytes.js'
import { compareReplies } from '../../../../test/support/compare-replies.js'
import { hasEngine, type LiveEngine, startEngine } from '../../../../test/support/live-engine.js'
import { readRecording } from '../../../../test/support/recording.js'
import { decodeReply, type RespReply } from '../../../../test/support/resp.js'
import { type Section, type Step, showReply, wordsAt } from '../../../../test/support/steps.js'
import { type StuntdoubleServer, startServer } from '../../src/server.js'

// Replays recordings of redis-server over REST on a real one. In RESP2 every type of reply is visible.

const suffix = '.steps.ts'
const groups = readdirSync(new URL('../../../../test/store/', import.meta.url))
  .filter((name) => name.endsWith(suffix))
  .map((name) => name.slice(0, -suffix.length))
  // This group takes seconds in the Lua engine of the real Redis, and does not test the REST interface.
  .filter((name) => name !== 'lua-libraries')

/** Commands that REST rejects, that the sandbox itself replies to, and that return all keys, including the marker. */
const notForwarded =
  /^(?:AUTH|MULTI|EXEC|DISCARD|WATCH|UNWATCH|HELLO|RESET|QUIT|CLIENT|MONITOR|P?(?:UN)?SUBSCRIBE|S(?:UN)?SUBSCRIBE|ACL|SELECT|WAIT|WAITAOF|CONFIG|INFO|COMMAND|MEMORY|DEBUG|SWAPDB|MOVE|B[LRZ].*|SHUTDOWN|SCAN|RANDOMKEY|FUNCTION|SCRIPT)$/i

function isForwarded({ argv }: Step): boolean {
  return argv[0] !== undefined && argv[0] !== '' && !notForwarded.test(argv[0]) && !/BLOCK/i.test(argv.join(' '))
}

/** JSON cannot express an error inside a reply, so the error is the whole reply. [store.md 3.1] */
function told(reply: RespReply): RespReply {
  if (!('array' in reply)) return reply
  return reply.array.map(told).find((item) => 'error' in item) ?? reply
}

/** Durations are not compared, because a machine may be slow. */
function timeless(loose: Step['loose']): Step['loose'] {
  return loose.has('near') || loose.has('times') ? new Set(['shape'] as const) : loose
}

describe.skipIf(!hasEngine)('the recordings of redis-server', () => {
  let engine: LiveEngine
  let server: StuntdoubleServer
  beforeAll(async () => {
    engine = await startEngine()
    server = await startServer({ port: 0, realRedis: engine.url, onError: () => undefined })
  })
  afterAll(async () => {
    await server?.close()
    await engine?.stop()
  })

  async function asked(words: readonly string[]): Promise<string> {
    const { urls, tokens, exchange } = server.tenant('main')
    // The request is a path, whose arguments are bytes.
    const path = words.map((word) =>
      [...word].map((char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join(''),
    )
    const { body } = await exchange({
      method: 'POST',
      url: `${urls.store}/${path.slice(0, -1).join('/')}`,
      headers: [
        ['authorization', `Bearer ${tokens.store}`],
        ['service-response-format', 'resp2'],
      ],
      body: () => latin1(words.at(-1)!),
    })
    return body as string
  }

  let compared = 0
  test.each(groups)('%s', async (group) => {
    const { steps } = (await import(`../../../../test/store/${group}.steps.ts`)) as { steps: readonly Section[] }
    const recording = readRecording(group)
    const differences: string[] = []
    for (const section of steps) {
      if (section.source !== undefined || section.steps.some(({ advance }) => advance !== undefined)) continue
      const rows = recording[section.title] ?? []
      if (!section.steps.every(isForwarded) || rows.length === 0) continue
      await asked(['FLUSHALL', 'SYNC'])
      for (const [at, step] of section.steps.entries()) {
        const words = wordsAt(step, Date.now())
        // An empty body is not an argument.
        if (words.length < 2 || words.at(-1) === '') break
        const expected = told(decodeReply(rows[at]![1]))
        const reply = decodeReply(await asked(words))
        compared++
        if (compareReplies(expected, reply, timeless(step.loose))) {
          differences.push(`${step.text}\n  recorded ${showReply(expected)}\n  got      ${showReply(reply)}`)
        }
      }
    }
    expect(differences).toEqual([])
  })

  test('the comparison covered enough replies', () => {
    expect(compared).toBeGreaterThan(2_000)
  })
})
