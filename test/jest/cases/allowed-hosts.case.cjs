const dns = require('node:dns')

const { lookup } = dns
beforeAll(() => {
  dns.lookup = (_, ...rest) => setImmediate(rest.at(-1), new Error('recorded'))
})
afterAll(() => {
  dns.lookup = lookup
})

describe('a sandbox that allows real hosts', () => {
  require('stuntdouble/jest').useSandbox({ realHosts: 'allow' })
  test('lets the request pass', async () => {
    const error = await fetch('https://qstash.upstash.io/').catch((thrown) => thrown)
    expect(error.cause.message).toBe('recorded')
  })
})
