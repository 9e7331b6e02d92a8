const { useSandbox } = require('stuntdouble/jest')

const sandbox = useSandbox({ dialect: 'upstash', intercept: 'fetch', timers: 'follow' })
const realSetTimeout = setTimeout

/** App under test, which uses the environment, the global fetch and the timers of the process. */
async function command(...words) {
  const headers = { authorization: `Bearer ${process.env.UPSTASH_REDIS_REST_TOKEN}` }
  const url = `${process.env.UPSTASH_REDIS_REST_URL}/${words.join('/')}`
  return (await (await fetch(url, { headers })).json()).result
}

test.each([[['1m']], [['10s', '10s', '10s', '10s', '10s', '10s']], [['7s', '53s']]])(
  'keeps a lock of 15 s that is renewed every 10 s: %j',
  async (steps) => {
    await command('set', 'lock', 'mine', 'ex', 15)
    const at = []
    setInterval(async () => {
      at.push([(Date.now() - Date.UTC(2030, 0, 1)) / 1000, await command('expire', 'lock', 15)])
    }, 10_000)
    for (const step of steps) await sandbox.clock.advance(step)
    expect(at).toEqual([10, 20, 30, 40, 50, 60].map((second) => [second, 1]))
    expect(Date.now()).toBe(sandbox.clock.now())
  },
)

test.each([
  ['useFakeTimers', () => jest.useFakeTimers({ now: 0 })],
  ['useRealTimers', () => jest.useRealTimers()],
  ['setSystemTime', () => jest.setSystemTime(0)],
])('throws an error for jest.%s() in a test', async (name, call) => {
  expect(call).toThrow(`jest.${name}()`)
  await sandbox.clock.advance('1s')
  expect(Date.now()).toBe(sandbox.clock.now())
})

afterAll(() => {
  if (setTimeout !== realSetTimeout) throw new Error('The real timers are not back.')
})
