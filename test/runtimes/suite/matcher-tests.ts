import { sandboxMatchers } from 'stuntdouble/matchers'
import { messageOf, type SuiteTest } from './suite-test.ts'

const orders = 'https://shop.test/orders'

/** Matchers and the text of their failures. Runners with a terminal color it, so escape sequences are removed. */
export const matcherTests: readonly SuiteTest[] = [
  {
    name: 'matchers: a failure names the nearest message and shows the timeline',
    async run({ expect, client, sandbox: { clock, destinations, queue } }) {
      destinations.script(orders, [503, 503])
      await client.publishJSON({ url: orders, body: { id: 42 } })
      await clock.drain()
      expect(queue).toHaveDelivered({ to: orders, attempts: 3, status: 200 })
      const text = await messageOf(() => expect(queue).toHaveDelivered({ to: orders, attempts: 2, status: 200 }))
      const plain = text.replace(/\u001b\[[\d;]*m/g, '')
      expect(plain).toContain('Expected a delivered message. Nearest of 1:')
      expect(plain).toContain('✓ to   ✗ attempts: expected 2, received 3   ✓ status')
      expect(plain).toContain('delay 148 s from the default back-off after 503')
    },
  },
  {
    name: 'matchers: .not fails with what it found, and an unknown field is reported with the one that was meant',
    async run({ expect, redis, sandbox: { queue, store } }) {
      await redis.set('profile:42', 'Ada', { ex: 3600 })
      expect(store).toHaveKey('profile:42', { value: 'Ada', ttl: '1h' })
      expect(await messageOf(() => expect(store).not.toHaveKey('profile:42'))).toContain('profile:42')
      expect(await messageOf(() => expect(queue).toHaveDelivered({ statuss: 200 }))).toContain('`status`')
    },
  },
  {
    name: 'matchers: colors are off where the runner has none, and nothing throws without an environment',
    run({ expect, sandbox: { queue } }) {
      const { pass, message } = sandboxMatchers.toHaveDelivered.call({}, queue, { to: orders })
      expect(pass).toBe(false)
      expect(message()).not.toContain('\u001b')
      // The color functions of a runner. The suite runs with NO_COLOR where the environment can be read.
      const mark = (text: string) => `\u001b[1m${text}`
      const utils = { EXPECTED_COLOR: mark, RECEIVED_COLOR: mark, DIM_COLOR: mark }
      const painted = sandboxMatchers.toHaveDelivered.call({ utils }, queue, { to: orders })
      expect(painted.message()).toBe(message())
    },
  },
]
