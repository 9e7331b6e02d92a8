import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'

/** Returns the status of the destination for one delivery. */
async function answerTo(url: string, prepare: (sandbox: Sandbox) => void): Promise<number | undefined> {
  const sandbox = createSandbox({ onWarning: () => {} })
  sandbox.destinations.respond('*', 200)
  prepare(sandbox)
  sandbox.queue.publish({ to: url, retries: 0 })
  await sandbox.clock.drain()
  const { outcome } = sandbox.traffic.ofType('attempt').at(-1)!
  return outcome !== undefined && 'status' in outcome ? outcome.status : undefined
}

// A rule and a destination with the same URL pattern match the same URLs, although rules are found by an index and
// destinations one by one.
test.each([
  ['https://shop.test/orders', 'HTTPS://Shop.Test:443/orders?a=1', 500],
  ['https://shop.test/Orders', 'https://shop.test/orders', 200],
  ['https://shop.test/Orders*', 'https://shop.test/orders', 500],
  ['https://shop.test/a/b', 'https://shop.test/a/%2e/b', 500],
  ['https://shop.test/a/', 'https://shop.test/a/.', 500],
  ["https://shop.test/?q=it's", 'https://shop.test/?q=it%27s', 500],
  ['http://10.0.0.1/x', 'http://10.1/x', 500],
  ['https://shop.test/ΣΑΣ*', 'https://shop.test/σας-1', 500],
])('pattern %s matches or ignores %s in rules as in destinations', async (pattern, url, expected) => {
  const byDestination = await answerTo(url, ({ destinations }) => destinations.respond(pattern, 500))
  const byRule = await answerTo(url, ({ faults }) => {
    faults.add({ on: 'queue.delivery', match: { url: pattern }, fault: fault.status(500) })
  })
  expect({ byDestination, byRule }).toEqual({ byDestination: expected, byRule: expected })
})
