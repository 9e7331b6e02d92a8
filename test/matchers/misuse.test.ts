import { createSandbox } from 'stuntdouble'
import { connect } from 'stuntdouble/client'
import { sandboxMatchers } from 'stuntdouble/matchers'
import { startServer } from 'stuntdouble/server'
import { afterAll, describe, expect, test } from 'vitest'

// Matchers throw immediately for wrong usage, because `.not` would always pass with a pattern that can never match.

const sandbox = createSandbox()
afterAll(() => sandbox.dispose())

function misuse(matcher: keyof typeof sandboxMatchers, ...given: unknown[]): string {
  for (const isNot of [false, true]) {
    try {
      sandboxMatchers[matcher].call({ isNot }, sandbox, ...given)
    } catch (error) {
      // An invalid duration or time throws a RangeError.
      expect((error as Error).name).toMatch(/^(?:Type|Range)Error$/)
      if (isNot) return (error as Error).message
      continue
    }
    throw new Error('Nothing was refused.')
  }
  throw new Error('Only the assertion was refused, not its .not.')
}

describe('an unknown field', () => {
  test.each([
    ['toHavePublished', { destination: 'x' }, 'to'],
    ['toHavePublished', { maxRetries: 1 }, 'retries'],
    ['toHavePublished', { retrys: 1 }, 'retries'],
    ['toHavePublished', { payload: 'x' }, 'body'],
    ['toHaveDelivered', { statusCode: 200 }, 'status'],
    ['toHaveDelivered', { tries: 2 }, 'attempts'],
    ['toHaveDelivered', { deliverdAt: 0 }, 'deliveredAt'],
    ['toHaveDeadLetter', { dlqid: 'x' }, 'dlqId'],
    ['toHaveBulkAction', { filters: { label: 'a' } }, 'filter'],
    ['toHaveDeliveredCallback', { sourceMessage: 'x' }, 'sourceMessageId'],
    ['toHaveDeduplicated', { deduplicated: true }, 'deduplicationId'],
    ['toHaveValidSignature', { claim: {} }, 'claims'],
    ['toHaveSchedule', { schedule: 'x' }, 'scheduleId'],
    ['toHaveReceivedRequest', { path: 'x' }, 'url'],
    ['toHaveCost', { comands: 1 }, 'commands'],
  ] as const)('%s(%j): suggests %s', (matcher, pattern, word) => {
    const [name] = Object.keys(pattern)
    expect(misuse(matcher, pattern)).toMatch(
      new RegExp(`^${matcher}\\(\\): unknown (?:field|cost) '${name}'\\. Did you mean \`${word}\`\\? `),
    )
  })

  test('has no suggestion if no field is near', () => {
    expect(misuse('toHaveSchedule', { zzz: 1 })).toMatch(/unknown field 'zzz'\. The fields are to, cron, /)
  })

  test('suggests the nearest type of a step', () => {
    expect(misuse('toFollowSequence', [{ type: 'atempt' }])).toContain('Did you mean `attempt`?')
    expect(misuse('toFollowSequence', [{ type: 'reports' }])).not.toContain('Did you mean')
  })

  test.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString'])('%s is rejected', (name) => {
    const pattern = JSON.parse(`{"${name}": 1}`)
    expect(misuse('toHavePublished', pattern)).toContain(`unknown field '${name}'.`)
    expect(misuse('toFollowSequence', [{ type: name }])).toContain('unknown type of step')
    expect(misuse('toFollowSequence', [JSON.parse(`{"type": "attempt", "${name}": 1}`)])).toContain(
      `unknown field '${name}'.`,
    )
  })
})

describe('an impossible expected value', () => {
  test.each([
    ['toHavePublished', { retries: '3' }, /retries.*number \(got '3'\)\. .*\b3\./],
    ['toHavePublished', { retries: 'three' }, /retries.*number \(got 'three'\)\.$/m],
    ['toHavePublished', { to: undefined }, /\bto\b.*URL.*\(got undefined\)\. Omit /],
    ['toHavePublished', { to: 42 }, /\bto\b.*URL.*\(got 42\)\./],
    ['toHavePublished', { method: 'post' }, "(got 'post'). Write 'POST'."],
    ['toHavePublished', { to: 'PUT https://shop.test/a' }, "without PUT: 'https://shop.test/a'."],
    ['toHaveOutboundRequest', { url: 'POST https://bank.test/*' }, "without POST: 'https://bank.test/*'."],
    ['toHaveReceivedRequest', { url: 'POST /v2/batch' }, "without POST: '/v2/batch'."],
    ['toHavePublished', { kind: 'failureCallback' }, "(got 'failureCallback'). Did you mean 'failure-callback'?"],
    ['toHavePublished', { headers: ['x-tag'] }, /headers.*object of names/],
    ['toHavePublished', { deduplicated: 'yes' }, 'deduplicated must be true or false'],
    ['toHavePublished', { delay: '90' }, 'is not a duration'],
    ['toHavePublished', { notBefore: 'tomorrow' }, 'is not a time'],
    ['toHaveDelivered', { state: 'DELIVERD' }, "(got 'DELIVERD'). Did you mean 'DELIVERED'?"],
    ['toHaveDelivered', { state: 'delivered' }, "Did you mean 'DELIVERED'?"],
    ['toHaveDelivered', { attempts: '3' }, /attempts.*list of statuses \[500, 200\]/],
    ['toHaveDelivered', { attempts: [{ code: 500 }] }, "Attempts have no field 'code'."],
    ['toHaveReceivedRequest', { service: 'stor' }, "Did you mean 'store'?"],
    ['toHaveSchedule', { paused: 1 }, /paused.*true or false \(got 1\)/],
    ['toHaveCost', { commands: '5' }, /commands.*number or a range/],
    ['toHaveCost', {}, /expected costs.*missing \(got \{\}\)/],
    ['toHaveCost', undefined, /expected costs.*missing \(got undefined\)/],
    ['toFollowSequence', [], 'at least one step'],
    ['toFollowSequence', [{ type: 'command', argv: [] }], /argv.*list of arguments/],
    ['toFollowSequence', [{ type: 'message', state: 'CANCELED' }], "Did you mean 'CANCELLED'?"],
    ['toHavePublished', 'https://shop.test', /pattern.*object of fields/],
    ['toHavePublished', null, /pattern.*object of fields/],
  ] as const)('%s(%j)', (matcher, pattern, text) => {
    expect(misuse(matcher, pattern)).toMatch(text)
  })

  test('is rejected by toHaveKey()', () => {
    expect(misuse('toHaveKey', 'k', { type: 'String' })).toContain("Did you mean 'string'?")
    expect(misuse('toHaveKey', 'k', { ttl: undefined })).toMatch(/\bttl\b.*duration.*'1h'.*milliseconds/)
    expect(misuse('toHaveKey')).toMatch(/the key.*string \(got undefined\)/)
  })

  test('is rejected by toHaveExecuted()', () => {
    expect(misuse('toHaveExecuted')).toContain('the command is missing')
    expect(misuse('toHaveExecuted', { times: 2 })).toContain('the command is missing')
    expect(misuse('toHaveExecuted', 'SET', undefined)).toMatch(/argument 2 .*\(got undefined\)/)
    expect(misuse('toHaveExecuted', 'SET', 'k', null)).toMatch(/argument 3 .*\(got null\)/)
  })

  test.each([
    [{ time: 2 }, "unknown option 'time'"],
    [{ to: 'x' }, /option 'to'\. .*one pattern/],
    [2, /last argument.*\{ times: … \} \(got 2\)/],
    [{ times: '2' }, /times.*number or a range/],
    [{ times: -1 }, /times.*number or a range/],
  ])('is rejected in options: %j', (options, text) => {
    expect(misuse('toHavePublished', {}, options)).toMatch(text)
  })

  test('rejects too many arguments', () => {
    expect(misuse('toHavePublished', {}, {}, {})).toMatch(/at most 2 .*\(got 3\)/)
    expect(misuse('toBeIdle', {})).toContain('toBeIdle(): takes no argument (got 1).')
    expect(misuse('toFollowSequence', [{ type: 'attempt' }], { times: 1 })).toMatch(/at most one .*\(got 2\)/)
  })
})

describe('a wrong value in expect()', () => {
  const on =
    (matcher: keyof typeof sandboxMatchers, received: unknown, ...given: unknown[]) =>
    () =>
      sandboxMatchers[matcher].call({}, received, ...given)

  test.each([undefined, null, 42, 'x', {}, [1], () => 0, Promise.resolve()])('%s', (received) => {
    for (const matcher of ['toHavePublished', 'toHaveExecuted', 'toHaveValidSignature', 'toFollowSequence'] as const) {
      const given =
        matcher === 'toHaveExecuted' ? ['GET'] : matcher === 'toFollowSequence' ? [[{ type: 'attempt' }]] : []
      expect(on(matcher, received, ...given)).toThrow(TypeError)
      expect(on(matcher, received, ...given)).toThrow(/Write expect\(sandbox/)
    }
  })

  test('rejects a sandbox on a server and suggests snapshot()', async () => {
    await using server = await startServer({ port: 0, clock: 'manual' })
    const remote = await connect(server.origin)
    const given: Readonly<Partial<Record<keyof typeof sandboxMatchers, readonly unknown[]>>> = {
      toHaveExecuted: ['GET'],
      toHaveKey: ['k'],
      toHaveCost: [{ commands: 1 }],
      toHaveWorkflowStep: ['s'],
      toHaveWorkflowWait: ['e'],
      toFollowSequence: [[{ type: 'attempt' }]],
      toHaveSchedule: [{}],
      toHaveDelivered: [{}],
      toHaveValidSignature: [{}],
      toBeIdle: [],
    }
    for (const [matcher, args] of Object.entries(given)) {
      expect(on(matcher as keyof typeof sandboxMatchers, remote, ...args)).toThrow(
        `Write expect(await sandbox.snapshot()).${matcher}(…).`,
      )
    }
  })

  test('rejects a view of the past in toHaveKey()', () => {
    using own = createSandbox()
    own.store.run('SET', 'k', 1)
    const past = own.asOf(own.clock.now())
    expect(on('toHaveKey', past, 'k')).toThrow('view of the past')
    expect(on('toHaveExecuted', past, 'GET')).not.toThrow()
  })

  test('rejects another service, a log and a message', () => {
    expect(on('toHaveCost', sandbox.queue, { commands: 1 })).toThrow(
      /commands cannot be counted.* queue\. .*expect\(sandbox\)/,
    )
    expect(on('toHaveCost', sandbox.store, { messages: 1 })).toThrow(/messages cannot be counted.* store\./)
    expect(on('toHaveCost', [], { commands: 1 })).toThrow(/commands cannot be counted.* list\b/)
    expect(on('toHaveSchedule', sandbox.traffic, {})).toThrow('Write expect(sandbox.queue).toHaveSchedule(…)')
    const message = sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1h' })
    expect(on('toHaveValidSignature', message)).toThrow('toHaveValidSignature({ messageId: message.id })')
    expect(on('toHaveValidSignature', new Request('https://shop.test/'))).toThrow('body: await request.text()')
  })
})
