import fc from 'fast-check'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { runs, seedOr } from '../support/effort.js'

// `auto` adds nothing: requests in one dialect have the same effect as in a sandbox that accepts only that dialect.

const prefixes = { neutral: 'Service-', upstash: 'Upstash-' } as const
type Words = 'neutral' | 'upstash'

const settings = fc.record(
  {
    Retries: fc.constantFrom('0', '1', '2'),
    Delay: fc.constantFrom('0s', '3s', '1m'),
    'Retry-Delay': fc.constantFrom('1000', 'retried * 2000'),
    Callback: fc.constantFrom('https://app.test/back'),
    'Failure-Callback': fc.constantFrom('https://app.test/failed'),
    'Callback-Retries': fc.constantFrom('0', '1'),
    'Callback-Forward-X-Note': fc.constantFrom('n'),
    'Forward-X-Order': fc.constantFrom('7', 'é'),
    'Deduplication-Id': fc.constantFrom('one', 'two'),
    'Flow-Control-Key': fc.constantFrom('key'),
    'Flow-Control-Value': fc.constantFrom('rate=1, period=10s', 'parallelism=1'),
    Label: fc.constantFrom('a', 'a,b'),
    Method: fc.constantFrom('GET', 'PUT', 'nonsense'),
    Cron: fc.constantFrom('* * * * *'),
    'Workflow-Init': fc.constantFrom('true'),
    'Workflow-RunId': fc.constantFrom('wfr_1', 'wfr_2'),
    'Workflow-Url': fc.constantFrom('https://app.test/flow'),
    'Workflow-Sdk-Version': fc.constantFrom('1'),
    'Feature-Set': fc.constantFrom('LazyFetch,InitialBody,WF_TriggerOnConfig'),
  },
  { requiredKeys: ['Method'] },
)

const request = fc.record({
  settings,
  to: fc.constantFrom(
    'publish/https://app.test/one',
    'publish/https://app.test/two?x=1',
    'publish/group',
    'enqueue/line/https://app.test/one',
    'schedules/https://app.test/two',
    'trigger/https://app.test/flow',
  ),
  inQuery: fc.boolean(),
  body: fc.constantFrom('', '{"n":1}', 'text'),
  words: fc.constantFrom<Words>('neutral', 'upstash'),
})
type Request = typeof request extends fc.Arbitrary<infer R> ? R : never

async function played(sandbox: Sandbox, requests: readonly Request[], wordsOf: (given: Request) => Words) {
  let n = 0
  sandbox.destinations.on('https://app.test/*', () => {
    n++
    return new Response(`answer ${n}`, { status: [200, 500, 503][n % 3]! })
  })
  sandbox.queue.urlGroups.addEndpoints('group', ['https://app.test/one', 'https://app.test/three'])
  const answers: string[] = []
  for (const given of requests) {
    const prefix = prefixes[wordsOf(given)]
    const { Delay, ...others } = given.settings
    const headers: Record<string, string> = { authorization: `Bearer ${sandbox.tokens.queue}` }
    for (const [name, value] of Object.entries(others)) if (value !== undefined) headers[prefix + name] = value
    if (Delay !== undefined && !given.inQuery) headers[`${prefix}Delay`] = Delay
    const query =
      Delay !== undefined && given.inQuery ? `${given.to.includes('?') ? '&' : '?'}${prefix}delay=${Delay}` : ''
    const url = `${sandbox.urls.queue}/v2/${given.to}${query}`
    const answer = await sandbox.fetch(url, { method: 'POST', headers, body: given.body })
    answers.push(`${answer.status} ${[...answer.headers].join('|')} ${await answer.text()}`)
    await sandbox.clock.advance('2s')
  }
  await sandbox.clock.advance('5m')
  const { violations: breaches } = sandbox.checkInvariants()
  expect(breaches.filter(({ invariant }) => invariant === 'signatures-verify')).toEqual([])
  return { answers, trace: JSON.stringify(sandbox.traffic.entries) }
}

function sandboxOf(dialect?: Words): Sandbox {
  return createSandbox({ seed: 7, ...(dialect && { dialect }), onWarning: () => {} })
}

test.each(['neutral', 'upstash'] as const)(
  'auto equals dialect %s byte for byte if all requests use it',
  async (words) => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 8 }), async (requests) => {
        const auto = await played(sandboxOf(), requests, () => words)
        const strict = await played(sandboxOf(words), requests, () => words)
        expect(auto).toEqual(strict)
      }),
      { seed: seedOr(18), numRuns: runs(40, 40, 400) },
    )
  },
)

test('auto treats each message of mixed dialects as its own dialect does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 2, maxLength: 8 }), async (requests) => {
      const auto = sandboxOf()
      await played(auto, requests, ({ words }) => words)
      const strict = { neutral: sandboxOf('neutral'), upstash: sandboxOf('upstash') }
      for (const words of ['neutral', 'upstash'] as const) await played(strict[words], requests, () => words)
      const wordsOf = (headers: readonly (readonly [string, string])[]): Words =>
        headers.some(([name]) => name === 'Upstash-Message-Id') ? 'upstash' : 'neutral'
      const attempts = auto.traffic.ofType('attempt')
      for (const [index, attempt] of attempts.entries()) {
        const other = strict[wordsOf(attempt.headers)].traffic.ofType('attempt')[index]
        expect(JSON.stringify(attempt)).toBe(JSON.stringify(other))
      }
    }),
    { seed: seedOr(18), numRuns: runs(40, 40, 400) },
  )
})
