import { Receiver } from '@upstash/qstash'
import { describe } from 'vitest'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { defineScenario } from '../../src/scenarios/scenario.js'
import { command, story } from './story.js'

describe('retries without jitter', () => {
  // A destination that handles ten requests at a time was down for a minute. All failed messages are retried at one
  // instant, overload it, and are retried at one instant again.
  const api = 'https://partner.test/api'

  const partner = (sandbox: Sandbox): void => {
    let [calls, since] = [0, -1]
    sandbox.destinations.respond(api, async (_delivery, task) => {
      if (sandbox.clock.now() !== since) [calls, since] = [0, sandbox.clock.now()]
      const mine = ++calls
      await task.sleep('100ms')
      return mine > 10 ? 503 : 200
    })
  }
  const publishAll = (sandbox: Sandbox, retryDelay: (n: number) => string): void => {
    sandbox.destinations.on('https://shop.test/sync-all', () => {
      for (let n = 0; n < 60; n++)
        sandbox.queue.publish({ to: api, body: { n }, retryDelay: retryDelay(n), retries: 4 })
      return new Response('published')
    })
  }
  story({
    scenario: defineScenario({
      name: 'retry storm without jitter',
      faults: [{ on: 'queue.delivery', match: { url: api }, until: '30s', fault: { kind: 'refused' } }],
      steps: [{ publish: { to: 'https://shop.test/sync-all', retries: 0 } }, { drain: true }],
      expect: [{ deadLetters: 0 }, { delivered: { to: api, times: 60 } }, { invariants: true }],
    }),
    broken: (sandbox) => {
      partner(sandbox)
      publishAll(sandbox, () => '60000')
    },
    // Each message has its own delay, spread over a minute.
    fixed: (sandbox) => {
      partner(sandbox)
      publishAll(sandbox, (n) => `60000 + ${n * 1000}`)
    },
    breaks: [/✗ expect\[0\]\.deadLetters/, /✗ expect\[1\]\.delivered/],
  })
})

describe('rate-limited destination', () => {
  // A burst of forty messages for a destination that accepts ten a minute: with retries only, some messages run out of
  // retries.
  const mailer = 'https://mailer.test/send'

  const limited = (sandbox: Sandbox): void => {
    let [calls, minute] = [0, -1]
    sandbox.destinations.respond(mailer, () => {
      const now = Math.floor(sandbox.clock.now() / 60_000)
      if (now !== minute) [calls, minute] = [0, now]
      return ++calls > 10 ? { status: 429, headers: { 'retry-after': '60' } } : 200
    })
  }
  const newsletter = (sandbox: Sandbox, options: Record<string, string>): void => {
    sandbox.destinations.on('https://shop.test/newsletter', () => {
      for (let n = 0; n < 40; n++) sandbox.queue.publish({ to: mailer, body: { n }, retries: 2, ...options })
      return new Response('on its way')
    })
  }
  story({
    scenario: defineScenario({
      name: 'rate-limited destination starving',
      startAt: '2030-01-01T09:00:00Z',
      steps: [{ publish: { to: 'https://shop.test/newsletter', retries: 0 } }, { drain: true }],
      expect: [
        { deadLetters: 0 },
        { delivered: { to: mailer, times: 40 } },
        { reached: { url: mailer, times: 40 } },
        { invariants: ['rate-bound', 'no-lost-message'] },
      ],
    }),
    broken: (sandbox) => {
      limited(sandbox)
      newsletter(sandbox, {})
    },
    // The queue knows the limit, so no request is rejected and no retry is used.
    fixed: (sandbox) => {
      limited(sandbox)
      newsletter(sandbox, { flowControlKey: 'mailer', flowControlValue: 'rate=10, period=1m' })
    },
    breaks: [/✗ expect\[0\]\.deadLetters/, /The actual number is 10\./],
  })
})

describe('key rotation', () => {
  // The receiver knows only one key. After the rotation it rejects every delivery until the app is deployed again.
  const hook = 'https://shop.test/hook'

  const verifying = (sandbox: Sandbox, keys: { current: string; next: string }): void => {
    const receiver = new Receiver({ currentSigningKey: keys.current, nextSigningKey: keys.next })
    sandbox.destinations.on(hook, async (request) => {
      const body = await request.text()
      const signature = request.headers.get('upstash-signature') ?? ''
      const valid = await receiver.verify({ signature, body, url: hook }).catch(() => false)
      if (!valid) return new Response('bad signature', { status: 401 })
      await command(sandbox, 'INCR', 'handled')
      return new Response('handled')
    })
  }
  story({
    scenario: defineScenario({
      name: 'key rotation dropping valid deliveries',
      dialect: 'upstash',
      given: { signingKeys: { current: 'sig_old', next: 'sig_new' } },
      faults: [{ on: 'queue.delivery', match: { label: 'slow' }, times: 1, fault: { kind: 'status', status: 503 } }],
      steps: [
        { publish: { to: hook, as: 'before', retries: 2 } },
        { publish: { to: hook, as: 'during', label: 'slow', retries: 2 } },
        { advance: '1s' },
        { rotateSigningKeys: true },
        { publish: { to: hook, as: 'after', retries: 2 } },
        { drain: true },
      ],
      expect: [
        { delivered: { message: 'before' } },
        { delivered: { message: 'during', attempts: [503, 200] } },
        { delivered: { message: 'after' } },
        { key: { name: 'handled', value: '3' } },
        { invariants: ['signatures-verify'] },
      ],
    }),
    broken: (sandbox) => verifying(sandbox, { current: 'sig_old', next: 'sig_old' }),
    fixed: (sandbox) => verifying(sandbox, { current: 'sig_old', next: 'sig_new' }),
    breaks: [/✓ expect\[0\]/, /✗ expect\[1\]\.delivered/, /✗ expect\[2\]\.delivered/],
  })
})

describe('stale read after a write', () => {
  // Writes go to one replica, reads to the nearest one, which returns the old value for a moment.
  const buy = 'https://shop.test/buy'

  story({
    scenario: defineScenario({
      name: 'stale read after write',
      given: { commands: [['SET', 'stock', 1]] },
      faults: [
        {
          on: 'store.command',
          match: { command: 'GET', key: 'stock' },
          skip: 1,
          times: 1,
          fault: { kind: 'stale-read', versions: 1 },
        },
      ],
      steps: [{ publish: { to: buy, as: 'buyer', times: 2, retries: 0, queue: 'tills' } }, { drain: true }],
      expect: [{ key: { name: 'sold', value: '1' } }, { key: { name: 'stock', value: '0' } }],
    }),
    broken: (sandbox) => {
      sandbox.destinations.on(buy, async () => {
        const stock = Number(await command(sandbox, 'GET', 'stock'))
        if (stock < 1) return new Response('sold out')
        await command(sandbox, 'DECR', 'stock')
        await command(sandbox, 'INCR', 'sold')
        return new Response('sold')
      })
    },
    // The reply of the write cannot be stale, so it decides. The read is only for the page.
    fixed: (sandbox) => {
      sandbox.destinations.on(buy, async () => {
        const shown = Number(await command(sandbox, 'GET', 'stock'))
        const left = (await command(sandbox, 'DECR', 'stock')) as number
        if (left < 0) {
          await command(sandbox, 'INCR', 'stock')
          return new Response(`sold out, although the page showed ${shown}`)
        }
        await command(sandbox, 'INCR', 'sold')
        return new Response('sold')
      })
    },
    breaks: /✗ expect\[0\]\.key[\s\S]*expected '1', received '2'/,
  })
})
