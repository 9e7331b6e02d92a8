import { Client, Receiver } from '@upstash/qstash'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { delivered } from '../../matchers/message-matchers.js'
import { scheduled } from '../../matchers/schedule-matchers.js'
import { replaceFetch } from '../../src/adapters/fetch.js'
import type { Entry } from '../../src/kernel/traffic-log.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.js'
import { runs, seedOr } from '../support/effort.js'

// Two regions of one account share the clock, the random streams, the destinations and the traffic log, and nothing
// else. [queue.md 1.13, 2.3, 9; the multi-region page of the service's documentation]

const shop = 'https://shop.test/orders'
const startAt = '2030-01-01T00:00:00Z'
const regions = ['eu-central-1', 'us-east-1'] as const
type Region = (typeof regions)[number]

const sandboxOf = (options: SandboxOptions = {}): Sandbox => createSandbox({ dialect: 'upstash', startAt, ...options })

/** Creates the SDK's client as an app in this region does. */
function clientOf(sandbox: Sandbox, region: Region): Client {
  const prefix = region.replaceAll('-', '_').toUpperCase()
  return new Client({
    baseUrl: sandbox.env[`${prefix}_QSTASH_URL`]!,
    token: sandbox.env[`${prefix}_QSTASH_TOKEN`]!,
    retry: false,
  })
}

beforeEach(() => {
  vi.stubEnv('QSTASH_REGION', '')
})
afterEach(() => {
  vi.unstubAllEnvs()
})

describe('the SDK with a region', () => {
  test.each(regions)('publishes in %s and verifies its deliveries with the keys of that region', async (region) => {
    using sandbox = sandboxOf()
    replaceFetch(sandbox)
    for (const [name, value] of Object.entries(sandbox.env)) vi.stubEnv(name, value)
    vi.stubEnv('QSTASH_REGION', region.replaceAll('-', '_').toUpperCase())
    const verified: unknown[] = []
    sandbox.destinations.on(shop, async (request) => {
      const given = { signature: request.headers.get('upstash-signature')!, body: await request.text() }
      const upstashRegion = request.headers.get('upstash-region')!
      verified.push(upstashRegion, await new Receiver().verify({ ...given, upstashRegion }))
      const other = upstashRegion === 'US-EAST-1' ? 'EU-CENTRAL-1' : 'US-EAST-1'
      verified.push(await new Receiver().verify({ ...given, upstashRegion: other }).catch(() => 'refused'))
      return new Response()
    })
    const { messageId } = await new Client({ retry: false }).publishJSON({ url: shop, body: { id: 1 } })
    const [here, there] =
      region === 'us-east-1'
        ? [sandbox.queueIn('us-east-1'), sandbox.queue]
        : [sandbox.queue, sandbox.queueIn('us-east-1')]
    expect([here.messages.map(({ id }) => id), there.messages]).toEqual([[messageId], []])
    await sandbox.clock.drain()
    expect(verified).toEqual([region.toUpperCase(), true, 'refused'])
    expect(delivered(here, { to: shop }).pass).toBe(true)
    expect(delivered(there, { to: shop }).pass).toBe(false)
    expect(delivered(sandbox, { to: shop }).pass).toBe(true)
  })

  test('has different keys in each region, and a rotation affects only one of them', () => {
    for (const options of [
      {},
      { secret: 'sixteen characters' },
      { signingKeys: { current: 'sig_7GVPjvuwsfqF65iC8fSrs1dfYruM' } },
    ]) {
      using sandbox = sandboxOf(options)
      const { env } = sandbox
      const keys = ['EU_CENTRAL_1', 'US_EAST_1'].flatMap((region) => [
        env[`${region}_QSTASH_CURRENT_SIGNING_KEY`],
        env[`${region}_QSTASH_NEXT_SIGNING_KEY`],
      ])
      expect(new Set(keys).size).toBe(4)
      expect(keys.slice(0, 2)).toEqual([env.QSTASH_CURRENT_SIGNING_KEY, env.QSTASH_NEXT_SIGNING_KEY])
      expect(sandbox.queueIn('us-east-1').signingKeys.pair()).toEqual({ current: keys[2], next: keys[3] })
      sandbox.queueIn('us-east-1').signingKeys.rotate()
      expect(sandbox.env.US_EAST_1_QSTASH_CURRENT_SIGNING_KEY).toBe(keys[3])
      expect(sandbox.env.QSTASH_CURRENT_SIGNING_KEY).toBe(keys[0])
      for (const key of keys) expect(sandbox.traffic.redaction().text(`key ${key}!`)).not.toContain(key)
    }
  })
})

describe('regions do not share resources', () => {
  test('a deduplication ID publishes once in each region', async () => {
    using sandbox = sandboxOf()
    replaceFetch(sandbox)
    const ids: string[] = []
    for (const region of [...regions, ...regions]) {
      const { messageId } = await clientOf(sandbox, region).publish({ url: shop, deduplicationId: 'order-1' })
      ids.push(messageId)
    }
    expect([ids[0] === ids[2], ids[1] === ids[3], ids[0] === ids[1]]).toEqual([true, true, false])
    expect(sandbox.traffic.ofType('published').map(({ region, deduplicated }) => [region, deduplicated])).toEqual([
      [undefined, false],
      ['us-east-1', false],
      [undefined, true],
      ['us-east-1', true],
    ])
  })

  test('messages, dead letters and schedules of one region cannot be read or canceled in the other', async () => {
    using sandbox = sandboxOf()
    replaceFetch(sandbox)
    sandbox.destinations.respond(shop, 500)
    const [eu, us] = regions.map((region) => clientOf(sandbox, region)) as [Client, Client]
    const { messageId } = await us.publish({ url: shop, delay: 60 })
    expect((await us.messages.get(messageId)).messageId).toBe(messageId)
    await expect(eu.messages.get(messageId)).rejects.toMatchObject({ status: 404 })
    await expect(eu.messages.delete(messageId)).rejects.toMatchObject({ status: 404 })
    await us.publish({ url: shop, retries: 0 })
    await us.schedules.create({ destination: shop, cron: '0 3 * * *', scheduleId: 'nightly' })
    await us.urlGroups.addEndpoints({ name: 'fleet', endpoints: [{ url: shop }] })
    await us.queue({ queueName: 'line' }).upsert({ parallelism: 2 })
    await sandbox.clock.advance('1s')
    expect((await us.dlq.listMessages()).messages).toHaveLength(1)
    expect((await eu.dlq.listMessages()).messages).toEqual([])
    expect([(await us.schedules.list()).length, (await eu.schedules.list()).length]).toEqual([1, 0])
    expect([(await us.urlGroups.list()).length, (await eu.urlGroups.list()).length]).toEqual([1, 0])
    expect([(await us.queue().list()).length, (await eu.queue().list()).length]).toEqual([1, 0])
    expect([(await us.logs()).logs.length > 0, (await eu.logs()).logs]).toEqual([true, []])
    expect(scheduled(sandbox, { scheduleId: 'nightly' }).pass).toBe(true)
    expect(scheduled(sandbox.queue, { scheduleId: 'nightly' }).pass).toBe(false)
    expect(sandbox.checkInvariants().violations).toEqual([])
  })

  test('a flow-control key counts for each region separately', async () => {
    using sandbox = sandboxOf()
    const running: string[] = []
    sandbox.destinations.on(shop, async (request, task) => {
      running.push(request.headers.get('upstash-region')!)
      await task.sleep('10s')
      return new Response()
    })
    for (const region of [...regions, ...regions]) {
      sandbox.queueIn(region).publish({ to: shop, flowControlKey: 'k', flowControlValue: 'parallelism=1' })
    }
    await sandbox.clock.advance('1s')
    expect(running).toEqual(['EU-CENTRAL-1', 'US-EAST-1'])
    await sandbox.clock.drain()
    expect(running).toHaveLength(4)
    expect(sandbox.checkInvariants().violations).toEqual([])
  })

  test('sandbox.queue belongs to the region whose token is set', async () => {
    using sandbox = sandboxOf({ policy: { homeRegion: 'us-east-1' } })
    replaceFetch(sandbox)
    const { messageId } = await clientOf(sandbox, 'us-east-1').publish({ url: shop })
    expect(sandbox.queue.messages.map(({ id }) => id)).toEqual([messageId])
    expect(sandbox.queue.region).toBe('us-east-1')
    await expect(clientOf(sandbox, 'eu-central-1').publish({ url: shop })).rejects.toThrow(
      'user (defaultUser) not found in this region (eu-central-1)',
    )
  })

  test('an unknown region is rejected', () => {
    using sandbox = sandboxOf()
    expect(() => sandbox.queueIn('us-west-1' as never)).toThrow(
      /no region "us-west-1".*mean "us-east-1".*us-east-1, eu-central-1/,
    )
  })

  test('an outage of one region does not affect the other', async () => {
    using sandbox = sandboxOf()
    replaceFetch(sandbox)
    sandbox.faults.add({ on: 'queue.request', fault: { kind: 'outage', region: 'us-east-1', status: 503 } })
    await expect(clientOf(sandbox, 'us-east-1').publish({ url: shop })).rejects.toMatchObject({ status: 503 })
    await clientOf(sandbox, 'eu-central-1').publish({ url: shop })
    expect(sandbox.queues.map(({ messages }) => messages.length)).toEqual([1, 0])
  })
})

describe('dumps of two regions', () => {
  test('can be loaded with shifted times, and the statistics count both', async () => {
    using sandbox = sandboxOf()
    sandbox.destinations.respond(shop, 500)
    for (const region of regions) {
      sandbox.queueIn(region).publish({ to: shop, delay: '1h' })
      sandbox.queueIn(region).publish({ to: shop, retries: 0 })
    }
    await sandbox.clock.advance('1m')
    expect(sandbox.stats.queue.report('3h')).toMatchObject({ dlq_message_count: 2 })
    expect(sandbox.stats.queue.report('3h').daily_used.at(-1)?.y).toBe(2)
    using earlier = createSandbox({ dialect: 'upstash', startAt: '2029-12-31T00:00:00Z' })
    earlier.load(sandbox.dump(), { at: '2029-12-31T00:00:00Z', rebaseTime: true })
    earlier.destinations.respond(shop, 200)
    const due = regions.map((region) =>
      earlier.queueIn(region).messages.map(({ nextAttemptAt: due }) => due - earlier.clock.now()),
    )
    expect(due).toEqual([[3_540_000], [3_540_000]])
    await earlier.clock.advance('1h')
    expect(earlier.traffic.ofType('attempt')).toHaveLength(2)
  })

  test('restore both regions; with one region the dump has its previous form', async () => {
    using sandbox = sandboxOf()
    sandbox.destinations.respond(shop, 500)
    const one = sandbox.queue.publish({ to: shop, delay: '1h' })
    expect(sandbox.dump()).toMatchObject({ version: 1 })
    expect(sandbox.dump()).not.toHaveProperty('regions')
    const us = sandbox.queueIn('us-east-1')
    us.publish({ to: shop, delay: '1h', deduplicationId: 'd' })
    us.publish({ to: shop, retries: 0 })
    us.signingKeys.rotate()
    await sandbox.clock.advance('1m')
    const dump = JSON.parse(JSON.stringify(sandbox.dump())) as ReturnType<Sandbox['dump']>
    expect(dump.version).toBe(2)
    using copy = sandboxOf()
    copy.load(dump)
    const loaded = copy.queueIn('us-east-1')
    expect(copy.queue.messages.map(({ id }) => id)).toEqual([(one as { id: string }).id])
    expect(loaded.messages.map(({ id }) => id)).toEqual(us.messages.map(({ id }) => id))
    expect([loaded.deadLetters.length, copy.queue.deadLetters.length, loaded.signingKeys.pair()]).toEqual([
      1,
      0,
      us.signingKeys.pair(),
    ])
    expect(copy.dump().regions).toEqual(dump.regions)
    loaded.publish({ to: shop, delay: '1h', deduplicationId: 'd' })
    expect(copy.traffic.ofType('published')).toMatchObject([{ deduplicated: true, region: 'us-east-1' }])
    using other = sandboxOf({ policy: { homeRegion: 'us-east-1' } })
    expect(() => other.load(dump)).toThrow(/regions\.us-east-1/)
    copy.reset()
    expect(copy.queues.map(({ region }) => region)).toEqual(['eu-central-1'])
    expect(copy.queueIn('us-east-1').messages).toEqual([])
  })

  test("keep a sandbox's own keys in both regions if it has a secret", () => {
    using from = sandboxOf()
    from.queueIn('us-east-1').publish({ to: shop })
    using into = sandboxOf({ secret: 'sixteen characters' })
    const before = into.env
    into.load(from.dump())
    expect(into.env).toEqual(before)
  })
})

describe('the traffic log with two regions', () => {
  test('contains the region only if both are used', async () => {
    using sandbox = sandboxOf()
    sandbox.destinations.respond(shop, 200)
    sandbox.queueIn('us-east-1').publish({ to: shop })
    expect(sandbox.traffic.timeline()).not.toContain('us-east-1')
    sandbox.queue.publish({ to: shop })
    await sandbox.clock.drain()
    const lines = sandbox.traffic
      .timeline()
      .split('\n')
      .filter((line) => /published|attempt/.test(line))
    expect(lines.map((line) => line.endsWith(' (us-east-1)') || line.includes(' (us-east-1)'))).toEqual([
      true,
      false,
      true,
      false,
    ])
    expect(sandbox.traffic.toTrace().entries.filter((entry) => 'region' in entry)).toHaveLength(2)
    expect(sandbox.traffic.ofType('attempt').map(({ region }) => region)).toEqual(['us-east-1', undefined])
  })
})

describe('two regions behave like two sandboxes with one clock', () => {
  type Step =
    | { readonly kind: 'publish'; readonly options: Record<string, string | number> }
    | { readonly kind: 'cancel'; readonly nth: number }
    | { readonly kind: 'deliverNow'; readonly nth: number }
    | { readonly kind: 'retryDeadLetter'; readonly nth: number }
    | { readonly kind: 'pause' | 'resume' | 'schedule' }
    | { readonly kind: 'advance'; readonly seconds: number }

  const nth = fc.nat(5)
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('publish' as const),
        options: fc.oneof(
          fc.constant({}),
          fc.record({ retries: fc.nat(2) }),
          fc.record({ retries: fc.nat(1), delay: fc.integer({ min: 1, max: 40 }).map((n) => `${n}s`) }),
          fc.record({ deduplicationId: fc.constantFrom('a', 'b') }),
          fc.record({ queue: fc.constantFrom('line', 'other') }),
          fc.record({
            flowControlKey: fc.constant('k'),
            flowControlValue: fc.constantFrom('parallelism=1', 'rate=2, period=30s'),
          }),
          fc.record({ retries: fc.constant(0), failureCallback: fc.constant('https://shop.test/failed') }),
        ),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constantFrom('cancel' as const, 'deliverNow' as const, 'retryDeadLetter' as const),
        nth,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constantFrom('pause' as const, 'resume' as const, 'schedule' as const) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('advance' as const), seconds: fc.integer({ min: 1, max: 90 }) }),
    },
  )

  /** Destination whose responses depend only on time and path, so that they are the same in all sandboxes. */
  function serve({ destinations, clock }: Sandbox): void {
    destinations.respond('https://shop.test/*', async (_delivery, task) => {
      const fails = Math.floor(clock.now() / 7000) % 3 !== 0
      await task.sleep('2s')
      return fails ? 500 : 200
    })
  }

  function perform(queue: Sandbox['queue'], step: Step): void {
    if (step.kind === 'publish') queue.publish({ to: shop, body: step.options, ...step.options })
    else if (step.kind === 'pause') queue.pauseQueue('line')
    else if (step.kind === 'resume') queue.resumeQueue('line')
    else if (step.kind === 'schedule') queue.publish({ to: shop, delay: '5m', label: 'later' })
    else if (step.kind === 'retryDeadLetter') {
      const letter = queue.deadLetters[step.nth]
      if (letter !== undefined) queue.retryDeadLetter(letter.id)
    } else if (step.kind === 'cancel' || step.kind === 'deliverNow') {
      const message = queue.messages[step.nth]
      if (message !== undefined && !message.running) queue[step.kind](message.id)
    }
  }

  /** Returns the entries of one region, without the region and its IDs. */
  function course(entries: readonly Entry[]): string {
    const names = new Map<string, string>()
    const named = (_: string, value: unknown): unknown => {
      if (typeof value !== 'string') return value
      return value.replace(/(?:msg_|jwt_)[\w]+|\b\d{13}-\d+\b|\beyJ[\w.=-]+|US-EAST-1|EU-CENTRAL-1/g, (id) => {
        if (id.startsWith('eyJ')) return 'signature'
        if (id.endsWith('-1') && !/^\d/.test(id)) return 'region'
        if (!names.has(id)) names.set(id, `id ${names.size + 1}`)
        return names.get(id)!
      })
    }
    const own = entries.filter(({ type }) => type !== 'clock' && type !== 'request')
    return own
      .map((entry) => {
        const { seq, cause, region, ...rest } = entry as Entry & Record<string, unknown>
        const { type, at } = entry
        const fields =
          type === 'attempt' || type === 'published' ? { url: entry.url, body: entry.body, kind: entry.kind } : rest
        const more =
          entry.type === 'attempt'
            ? {
                retried: entry.retried,
                why: entry.reason,
                waited: entry.waitReason,
                outcome: { ...entry.outcome, headers: 0, body: 0 },
              }
            : entry.type === 'published'
              ? { deduplicated: entry.deduplicated, queue: entry.queue, id: entry.messageId }
              : {}
        return JSON.stringify({ type, at, ...fields, ...more, endedAfterSeq: 0 }, named)
      })
      .join('\n')
  }

  test('for a random program on two regions, compared with two programs on two sandboxes', {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), step), { maxLength: 25 }), async (program) => {
        using both = sandboxOf()
        const single = regions.map(() => sandboxOf())
        for (const sandbox of [both, ...single]) serve(sandbox)
        for (const [inUs, one] of program) {
          const index = inUs ? 1 : 0
          perform(both.queueIn(regions[index]!), one)
          perform(single[index]!.queue, one)
          if (one.kind !== 'advance') continue
          for (const sandbox of [both, ...single]) await sandbox.clock.advance(`${one.seconds}s`)
        }
        for (const sandbox of [both, ...single]) await sandbox.clock.drain()
        regions.forEach((region, index) => {
          expect(course(both.queueIn(region).traffic.entries)).toBe(course(single[index]!.queue.traffic.entries))
          expect(both.queueIn(region).deadLetters.length).toBe(single[index]!.queue.deadLetters.length)
        })
        expect(both.checkInvariants().violations).toEqual([])
        for (const sandbox of single) sandbox.dispose()
      }),
      { numRuns: runs(60, 60, 600), seed: seedOr(17) },
    )
  })

  test('with the same attempts and dump of the home region, whether or not the other is used', async () => {
    const played = async (withOther: boolean): Promise<unknown> => {
      using sandbox = sandboxOf()
      serve(sandbox)
      for (let at = 0; at < 6; at++) {
        if (withOther) sandbox.queueIn('us-east-1').publish({ to: shop, retries: 1 })
        sandbox.queue.publish({ to: shop, retries: 2, body: { at } })
        await sandbox.clock.advance('20s')
      }
      await sandbox.clock.drain()
      const own = sandbox.queue.traffic
        .ofType('attempt')
        .map(({ at, messageId, headers, body, reason: why, outcome }) => ({
          // The ID of a signature depends on the number of the attempt in the common log.
          ...{ at, messageId, body, why, outcome, headers: headers.filter(([name]) => name !== 'Upstash-Signature') },
        }))
      expect(own.length).toBeGreaterThan(6)
      return { own, dump: sandbox.dump().queue }
    }
    expect(await played(true)).toEqual(await played(false))
  })
})
