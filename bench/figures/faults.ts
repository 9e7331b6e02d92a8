// Cost of fault points in a sandbox without rules, and of many rules.
import type { FaultRule, Sandbox } from 'stuntdouble'
import { bundled, type Create } from '../bundled.ts'
import type { Figure, Variant } from '../harness.ts'

const shop = 'https://shop.test/orders'

/** Requests a key of the store, as every adapter does. */
function requests(name: string, sandbox: Sandbox): Variant {
  sandbox.store.run('SET', 'greeting', 'hello')
  const body = '["GET","greeting"]'
  const call = {
    method: 'POST',
    url: `${sandbox.urls.store}/`,
    headers: [['authorization', `Bearer ${sandbox.tokens.store}`]] as [string, string][],
    body: () => body as never,
  }
  return {
    name,
    async run(times) {
      for (let count = 0; count < times; count++) {
        const answer = sandbox.exchange(call)
        if (answer instanceof Promise) await answer
        if (count % 1000 === 999) sandbox.traffic.clear()
      }
      sandbox.traffic.clear()
    },
  }
}

/** Publishes and delivers messages. */
function deliveries(name: string, create: () => Sandbox): Variant {
  return {
    name,
    async run(times) {
      const sandbox = create()
      sandbox.destinations.respond('https://shop.test/*', 200)
      for (let count = 0; count < times; count++) {
        sandbox.queue.publish({ to: shop, body: 'x' })
        if (count % 100 === 99) {
          await sandbox.clock.drain()
          sandbox.traffic.clear()
        }
      }
      await sandbox.clock.drain()
      sandbox.dispose()
    },
  }
}

/**
 * Runs several copies of a module in turns. The memory layout of compiled code randomly changes results by some
 * percent. The variant without fault points occurs twice, which shows the remaining noise.
 */
async function copies(
  name: string,
  withPoints: boolean,
  variant: (name: string, create: Create) => Variant,
): Promise<Variant> {
  const all: Variant[] = []
  for (let count = 0; count < 4; count++) all.push(variant(name, await bundled(withPoints)))
  return {
    name,
    async run(times) {
      for (const one of all) await one.run(Math.ceil(times / all.length))
    },
  }
}

async function withoutRules(name: string, variant: (name: string, create: Create) => Variant): Promise<Figure> {
  const baseline = await copies('without fault points', false, variant)
  const again = await copies('the same again', false, variant)
  const whole = await copies('without rules', true, variant)
  return { name, baseline, variants: [again, whole], atMost: { 'without rules': 1.02 }, rounds: 41, turn: 80 }
}

function requestWithoutRules(): Promise<Figure> {
  return withoutRules('a request to a store without rules, over the same without fault points', (name, create) =>
    requests(name, create()),
  )
}

function deliveryWithoutRules(): Promise<Figure> {
  return withoutRules('a publish and its delivery without rules, over the same without fault points', deliveries)
}

/** Rules about other keys and other places, none of which takes effect. */
function others(count: number, exact: boolean): FaultRule[] {
  const star = exact ? '' : '*'
  return Array.from({ length: count }, (_, index) => [
    { on: 'store.request' as const, match: { key: `user:${index}${star}` }, fault: { kind: 'reset' as const } },
    {
      on: 'queue.delivery' as const,
      match: { url: `https://shop.test/orders/${index}${star}` },
      fault: { kind: 'reset' as const },
    },
  ]).flat()
}

function ruled(create: Create, count: number, exact: boolean): Sandbox {
  const sandbox = create()
  sandbox.faults.add(others(count, exact))
  return sandbox
}

async function manyRulesForRequests(): Promise<Figure> {
  const create = await bundled(true)
  return {
    name: 'a request to a store under 1,000 rules, over 10',
    baseline: requests('10 rules', ruled(create, 10, true)),
    variants: [
      requests('1,000 rules', ruled(create, 1000, true)),
      requests('1,000 rules of patterns', ruled(create, 1000, false)),
    ],
    atMost: { '1,000 rules': 3, '1,000 rules of patterns': 3 },
  }
}

async function manyRulesForDeliveries(): Promise<Figure> {
  const create = await bundled(true)
  return {
    name: 'a delivery under 1,000 rules, over 10',
    baseline: deliveriesUnder('10 rules', ruled(create, 10, true)),
    variants: [
      deliveriesUnder('1,000 rules', ruled(create, 1000, true)),
      deliveriesUnder('1,000 rules of patterns', ruled(create, 1000, false)),
    ],
    atMost: { '1,000 rules': 3, '1,000 rules of patterns': 3 },
  }
}

/** In one sandbox, because adding a thousand rules is not measured. */
function deliveriesUnder(name: string, sandbox: Sandbox): Variant {
  sandbox.destinations.respond('https://shop.test/*', 200)
  return {
    name,
    async run(times) {
      for (let count = 0; count < times; count++) {
        sandbox.queue.publish({ to: shop, body: 'x' })
        if (count % 100 === 99) {
          await sandbox.clock.drain()
          sandbox.traffic.clear()
        }
      }
      await sandbox.clock.drain()
      sandbox.traffic.clear()
      sandbox.queue.reset()
    },
  }
}

export const figures = [requestWithoutRules, deliveryWithoutRules, manyRulesForRequests, manyRulesForDeliveries]
