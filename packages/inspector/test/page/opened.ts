import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { createSandbox, fault, type Sandbox } from '../../../../src/index.js'

export const orders = 'https://shop.test/orders'

/** Plays an order that is rejected twice, delivered, and reported by a callback each time. */
export async function story(seed = 7): Promise<Sandbox> {
  const sandbox = createSandbox({ seed, startAt: '2030-01-01T09:00:00Z' })
  const { queue, destinations, clock, store } = sandbox
  destinations.script(orders, [fault.status(500), fault.status(503)])
  destinations.respond('https://shop.test/done', () => 200)
  store.run('SET', 'stock', 5)
  queue.publish({ to: orders, body: { id: 42, note: 'gift' }, callback: 'https://shop.test/done' })
  await clock.drain()
  return sandbox
}

const axe = readFileSync(new URL('../../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')

/** Returns the serious and critical findings of axe, each with its elements. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  // It is evaluated from outside, so the content-security policy of the page does not apply.
  const found = await page.evaluate(
    `(() => { ${axe}; return axe.run(document, { resultTypes: ['violations'] }) })().then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, at: nodes.map(({ html }) => html.slice(0, 120)) })))`,
  )
  return (found as { id: string; impact: string; at: string[] }[])
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, at }) => `${id}: ${at.slice(0, 3).join(' ')}`)
}
