import { describe, expect, test } from 'vitest'
import '../../matchers/vitest.js'
import { fault } from '../../src/index.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.js'
import { failureOf } from './failure.js'

const us = { databases: ['us'] }

/** Returns the hints of a failing assertion. */
function hintsOf(assertion: () => void): string[] {
  return [...failureOf(assertion).matchAll(/^Hint: (.*)$/gm)].map(([, hint]) => hint!)
}

/** Creates a sandbox, and a list that receives its warnings. */
function warned(options: SandboxOptions = {}): { sandbox: Sandbox; warnings: string[] } {
  const warnings: string[] = []
  return { sandbox: createSandbox({ ...options, onWarning: (sentence) => void warnings.push(sentence) }), warnings }
}

const ways: readonly [string, (sandbox: Sandbox) => void, since: string][] = [
  ['reset', (sandbox) => sandbox.reset(), 'from before a reset of its sandbox'],
  ['load', (sandbox) => sandbox.load(sandbox.dump()), 'from before its sandbox loaded a dump'],
]

/** Objects that matchers accept: how a test reads them, their name, and an assertion that fails. */
const parts: readonly [
  part: string,
  noun: string,
  read: (sandbox: Sandbox) => object,
  check: (part: unknown) => void,
][] = [
  ['store', 'store', (sandbox) => sandbox.store, (store) => expect(store).toHaveKey('cart')],
  ['store', 'store', (sandbox) => sandbox.store, (store) => expect(store).toHaveExecuted('SET', 'cart')],
  [`storeIn('us')`, 'store', (sandbox) => sandbox.storeIn('us'), (store) => expect(store).toHaveKey('cart')],
  ['queue', 'queue', (sandbox) => sandbox.queue, (queue) => expect(queue).toHaveDelivered({ body: 'x' })],
  [
    `queueIn('us-east-1')`,
    'queue',
    (sandbox) => sandbox.queueIn('us-east-1'),
    (queue) => expect(queue).toHavePublished({ body: 'x' }),
  ],
  ['traffic', 'traffic log', (sandbox) => sandbox.traffic, (log) => expect(log).toHaveExecuted('SET')],
  [
    `storeIn('us').traffic`,
    'traffic log',
    (sandbox) => sandbox.storeIn('us').traffic,
    (log) => expect(log).toHaveExecuted('SET'),
  ],
]

describe('an outdated object in expect()', () => {
  const rows = ways.flatMap(([way, renew, since]) => parts.map((part) => [way, ...part, renew, since] as const))
  test.each(rows)('after a %s: the first hint says so for %s', (_, part, noun, read, check, renew, since) => {
    const { sandbox, warnings } = warned(us)
    using _sandbox = sandbox
    const before = read(sandbox)
    expect(hintsOf(() => check(before)).join()).not.toContain('from before')
    renew(sandbox)
    // The sandbox itself and an object that is read now are present.
    expect(hintsOf(() => check(read(sandbox))).join()).not.toContain('from before')
    expect(warnings).toEqual([])
    expect(hintsOf(() => check(before))[0]).toBe(
      `This ${noun} is ${since}: read sandbox.${part} in the test, not before it.`,
    )
  })

  test('is reported even if the assertion passes, but only once', () => {
    const { sandbox, warnings } = warned()
    using _sandbox = sandbox
    const { store } = sandbox
    sandbox.reset()
    sandbox.store.run('SET', 'cart', 'tea')
    expect(warnings).toEqual([])
    expect(store).not.toHaveKey('cart')
    expect(store).not.toHaveExecuted('SET')
    expect(warnings).toEqual([
      'expect(store) got an object from before a reset of its sandbox, which the sandbox no longer uses: read sandbox.store in the test, not before it.',
    ])
  })

  test('is not claimed for a sandbox that was reset, a disposed sandbox, a fork, or a list of entries', async () => {
    const { sandbox, warnings } = warned()
    const { traffic, store: first } = sandbox
    const entries = traffic.entries
    const past = sandbox.asOf('-0s')
    sandbox.reset()
    const fork = await sandbox.fork()
    const { store, queue } = fork
    const subjects = [sandbox, sandbox.store, fork, store, entries, past.traffic]
    const check = () =>
      subjects.flatMap((subject) => hintsOf(() => expect(subject as Sandbox).toHaveExecuted('SET', 'cart')))
    expect(check().join()).not.toContain('from before')
    fork.dispose()
    sandbox.dispose()
    expect(check().join()).not.toContain('from before')
    store.run('SET', 'cart', 'tea')
    queue.publish({ to: 'https://shop.test/orders' })
    sandbox.store.run('SET', 'cart', 'tea')
    expect(warnings).toEqual([])
    // The reset still counts after the sandbox was disposed.
    expect(hintsOf(() => expect(first).toHaveKey('cart'))[0]).toContain('from before a reset')
  })
})

describe('a direct call of an outdated object', () => {
  const calls: readonly [part: string, method: string, read: (sandbox: Sandbox) => () => unknown][] = [
    [
      'store',
      'store.run',
      ({ store }) =>
        () =>
          store.run('SET', 'cart', 'tea'),
    ],
    [
      'store',
      'store.get',
      ({ store }) =>
        () =>
          store.get('cart'),
    ],
    [
      'store',
      'store.connect',
      ({ store }) =>
        () =>
          store.connect(),
    ],
    [
      `storeIn('us')`,
      `storeIn('us').run`,
      (sandbox) => {
        const store = sandbox.storeIn('us')
        return () => store.run('SET', 'cart', 'tea')
      },
    ],
    [
      'queue',
      'queue.publish',
      ({ queue }) =>
        () =>
          queue.publish({ to: 'https://shop.test/orders' }),
    ],
    [
      'queue',
      'addEndpoints',
      ({ queue: { urlGroups } }) =>
        () =>
          urlGroups.addEndpoints('all', []),
    ],
    [
      'workflow',
      'returns',
      ({ workflow }) =>
        () =>
          workflow.stubStep('charge').returns(1),
    ],
    [
      'faults',
      'faults.add',
      ({ faults }) =>
        () =>
          faults.add({ on: 'queue.delivery', fault: fault.delay('1s') }),
    ],
    [
      'destinations',
      'destinations.record',
      ({ destinations }) =>
        () =>
          destinations.record('https://shop.test/*'),
    ],
    [
      'outbound',
      'outbound.record',
      ({ outbound }) =>
        () =>
          outbound.record('https://bank.test/*'),
    ],
  ]
  const rows = ways.flatMap(([way, renew, since]) =>
    [true, false].flatMap((journal) =>
      calls.map(([part, method, read]) => [method, way, journal, part, read, renew, since] as const),
    ),
  )
  test.each(rows)('%s() after a %s (journal: %s) warns once', (method, _, journal, part, read, renew, since) => {
    const { sandbox, warnings } = warned({ ...us, journal })
    using _sandbox = sandbox
    const call = read(sandbox)
    const attempt = () => {
      try {
        call()
      } catch {
        // Some calls are wrong on purpose: only their warning counts.
      }
    }
    attempt()
    expect(warnings).toEqual([])
    renew(sandbox)
    attempt()
    attempt()
    expect(warnings).toEqual([
      `${method}() was called on an object ${since}, which the sandbox no longer uses: read sandbox.${part} in the test, not before it.`,
    ])
  })

  test('still works, because work of an earlier test may continue, and changes nothing in the sandbox', () => {
    const { sandbox } = warned()
    using _sandbox = sandbox
    const { store } = sandbox
    sandbox.reset()
    expect(store.run('SET', 'cart', 'tea')).toBe('OK')
    expect(store.get('cart')).toBe('tea')
    expect(sandbox.store).not.toHaveKey('cart')
  })

  test('does not warn when a test removes what it had added before the reset', () => {
    const { sandbox, warnings } = warned()
    using _sandbox = sandbox
    const { destinations, faults, traffic } = sandbox
    const added = faults.add({ on: 'queue.delivery', times: 1, fault: fault.delay('1s') })
    destinations.record('https://shop.test/*')
    sandbox.reset()
    added.remove()
    destinations.off('https://shop.test/*')
    faults.clear()
    traffic.clear()
    expect(warnings).toEqual([])
  })
})
