import { onTestFinished } from 'vitest'
import { connect, type FixtureOptions, sandboxOf } from '../../fixtures/fixture-sandbox.js'
import type { Sandbox, SandboxOptions } from '../../src/index.js'
import { connectedSandbox } from '../support/sandbox.js'

export const bank = 'https://bank.test/charges'
export const shop = 'https://shop.test/orders'

/** Returns a sandbox that replaces the global `fetch` until the end of the test. */
export function world(options: SandboxOptions = {}): Sandbox {
  return connectedSandbox({ startAt: '2030-01-01T09:00:00Z', ...options })
}

/** Returns a sandbox connected as by the fixtures of the runners, until the end of the test. */
export function connected(given: FixtureOptions = {}): Sandbox {
  const options: FixtureOptions = { realHosts: 'allow', ...given }
  const sandbox = sandboxOf(options)
  const disconnect = connect(sandbox, options)
  onTestFinished(() => {
    disconnect()
    sandbox.dispose()
  })
  return sandbox
}

/** App that charges the bank for each order. */
export function charging(sandbox: Pick<Sandbox, 'destinations'>): void {
  sandbox.destinations.on(shop, async (request) => {
    const order = await request.text()
    const answer = await fetch(bank, { method: 'POST', body: order, headers: { authorization: 'Bearer sk_live_1' } })
    return new Response(null, { status: answer.ok ? 200 : 500 })
  })
}

/** Returns the code with which `fetch` rejects. */
export async function failure(asked: Promise<unknown>): Promise<{ name: string; message: string; code: unknown }> {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof Error)) throw new TypeError('it did not fail')
  return { name: error.name, message: error.message, code: (error.cause as { code?: unknown } | undefined)?.code }
}
