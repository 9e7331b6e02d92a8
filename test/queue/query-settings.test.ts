import { createSandbox } from 'stuntdouble'
import { describe, expect, test } from 'vitest'

// Only the token and the service's own parameters are removed from the destination's query. [queue.md 1.3]
describe.each([
  ['neutral', 'service', 'service_token', 'upstash'],
  ['upstash', 'upstash', 'qstash_token', 'service'],
] as const)('settings in the query in dialect %s', (dialect, prefix, tokenName, foreign) => {
  test('configure the message, and all other parameters stay with the destination byte for byte', async () => {
    using sandbox = createSandbox({ dialect })
    const orders = sandbox.destinations.record('https://shop.test/*')
    const own = `${prefix}-retries=5&${prefix}-delay=1m&${tokenName}=${encodeURIComponent(sandbox.tokens.queue)}`
    const theirs = `b=%20x&${foreign}-retries=7&c&c=+`
    const url = `${sandbox.urls.queue}/v2/publish/https://shop.test/orders?${theirs}&${own}`

    const answer = await sandbox.fetch(url, { method: 'POST', body: 'hello' })
    await sandbox.clock.advance('1m')

    expect(answer.status).toBe(200)
    expect(orders.last()).toMatchObject({ url: `https://shop.test/orders?${theirs}`, maxRetries: 5 })
  })

  test('yield to headers', async () => {
    using sandbox = createSandbox({ dialect })
    await sandbox.fetch(`${sandbox.urls.queue}/v2/publish/https://shop.test/?${prefix}-retries=5`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.queue}`, [`${prefix}-retries`]: '2' },
    })
    expect(sandbox.queue.messages[0]?.maxRetries).toBe(2)
  })

  test('do not accept the token parameter of another dialect', async () => {
    using sandbox = createSandbox({ dialect })
    const wrong = dialect === 'neutral' ? 'qstash_token' : 'service_token'
    const answer = await sandbox.fetch(`${sandbox.urls.queue}/v2/keys?${wrong}=${sandbox.tokens.queue}`)
    expect(answer.status).toBe(401)
  })
})
