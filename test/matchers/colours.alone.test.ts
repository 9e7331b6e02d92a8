import { createSandbox } from 'stuntdouble'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { painted } from '../../matchers/failure/colours.js'
import { sandboxMatchers } from '../../matchers/index.js'

beforeEach(() => {
  vi.stubEnv('NO_COLOR', undefined)
  vi.stubEnv('FORCE_COLOR', '1')
})
afterEach(() => void vi.unstubAllEnvs())

const orders = 'https://shop.test/orders'

/** Marks instead of escape sequences, because no captured text contains them. */
const utils = {
  EXPECTED_COLOR: (text: string) => `⟦g${text}⟧`,
  RECEIVED_COLOR: (text: string) => `⟦r${text}⟧`,
  DIM_COLOR: (text: string) => `⟦d${text}⟧`,
  BOLD_WEIGHT: (text: string) => `⟦b${text}⟧`,
}
const plain = (text: string): string => text.replace(/⟦[grdb]|⟧/g, '')

async function failures(): Promise<(state: object) => string[]> {
  const sandbox = createSandbox({ seed: 7 })
  const { clock, destinations, queue } = sandbox
  destinations.respond(orders, 500)
  queue.publish({
    to: orders,
    body: { text: 'a\n'.repeat(20), '✗ x: expected 1, received 2': '\u001b[31m' },
    retries: 1,
  })
  await clock.drain()
  const { toHaveDelivered, toHavePublished, toHaveKey, toHaveCost, toFollowSequence, toBeIdle } = sandboxMatchers
  return (state) => [
    toHaveDelivered.call(state, sandbox, { to: orders, status: 200 }).message(),
    toHavePublished.call(state, sandbox, { to: 'https://x.test/', body: { text: 'a\n'.repeat(19) } }).message(),
    toHavePublished.call({ ...state, isNot: true }, sandbox, {}).message(),
    toHaveKey.call(state, sandbox, 'k').message(),
    toHaveCost.call(state, sandbox, { messages: 1 }).message(),
    toFollowSequence.call(state, sandbox, [{ type: 'attempt' }, { type: 'command' }]).message(),
    toBeIdle.call({ ...state, isNot: true }, sandbox).message(),
  ]
}

test('prints the same text with and without colors', async () => {
  const told = await failures()
  const coloured = told({ utils })
  expect(coloured.map(plain)).toEqual(told({}))
  for (const text of coloured) {
    const [first] = text.split('\n')
    expect(first).toMatch(/^⟦dexpect\(⟧⟦r\w+⟧⟦d\)\.(?:not\.)?⟧to\w+⟦d\(⟧/)
  }
  expect(coloured[0]).toContain('⟦r✗⟧ status: expected ⟦g200⟧, received ⟦r500⟧')
  expect(coloured[0]).toMatch(/⟦d +#\d+ {2}[\d:.]+ +⟧ *⟦r *attempt 1 of 2 .* → 500/)
})

test('prints plain text for a runner without known color functions', () => {
  for (const none of [undefined, {}, { EXPECTED_COLOR: 'green' }, null])
    expect(painted({ received: ['a', '✗ b'] }, none)).toBe('a\n✗ b')
})

test('uses the color functions of the runner', async () => {
  const told = await failures()
  const seen: string[][] = []
  expect.extend({
    look(this: object) {
      seen.push(told(this))
      return { pass: true, message: () => '' }
    },
  })
  ;(expect(1) as unknown as { look(): void }).look()
  const strip = (text: string): string => text.replace(/\u001b\[\d+m/g, '').replace(/^Replay: .*$/m, '')
  expect(seen[0]!.map(strip)).toEqual(told({}).map(strip))
})

test('prints no color without a terminal or with NO_COLOR', async () => {
  const told = await failures()
  vi.stubEnv('NO_COLOR', '1')
  expect(told({ utils })).toEqual(told({}))
  vi.stubEnv('NO_COLOR', undefined)
  vi.stubEnv('FORCE_COLOR', undefined)
  // Vitest sets this variable for its workers.
  vi.stubEnv('FORCE_TTY', '')
  expect(told({ utils })).toEqual(told({}))
  vi.stubEnv('FORCE_TTY', 'true')
  expect(told({ utils })).not.toEqual(told({}))
})
