import { expect, test } from 'vitest'
import { freePort } from '../../../../test/support/free-port.js'
import { hasEngine, startEngine } from '../../../../test/support/live-engine.js'
import { UsageError } from '../../../command-line/src/program.js'
import { serveArguments } from '../../src/config.js'
import { startedServer } from '../../src/programs/started-server.js'
import { RealRedis } from '../../src/real-redis/real-redis.js'

test.each(['real-redis', 'shadow-redis'])(
  'a server ends with a message if the real Redis of --%s is unavailable',
  async (flag) => {
    const url = `redis://127.0.0.1:${await freePort()}`
    const usual = Object.entries(serveArguments).flatMap(([name, arg]) =>
      'default' in arg ? [[name, arg.default]] : [],
    )
    const started = startedServer({ _: [], ...Object.fromEntries(usual), port: '0', [flag]: url })
    await expect(started).rejects.toThrow(UsageError)
    await expect(started).rejects.toThrow(/real Redis.*127\.0\.0\.1:\d+ .*unavailable: connect ECONNREFUSED [\d.:]+\.$/)
  },
)

/** Returns the message that the program ends with. */
async function refused(url: string, flag = 'real-redis'): Promise<string> {
  const usual = Object.entries(serveArguments).flatMap(([name, arg]) => ('default' in arg ? [[name, arg.default]] : []))
  const started = startedServer({ _: [], ...Object.fromEntries(usual), port: '0', [flag]: url })
  const error = await started.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(UsageError)
  return (error as UsageError).message
}

test('an unknown host name and an IPv6 address are reported in one line', async () => {
  expect(await refused('redis://nobody.invalid')).toMatch(/^The real Redis at nobody\.invalid is unavailable: .*$/)
  expect(await refused(`redis://[::1]:${await freePort()}`)).toMatch(
    /^The real Redis at \[::1\]:\d+ is unavailable: .*$/,
  )
})

test.skipIf(!hasEngine)(
  'a Redis that is not empty, in use, protected or without TLS is reported in one line',
  async () => {
    await using engine = await startEngine()
    for (const flag of ['real-redis', 'shadow-redis']) {
      await engine.client.send(['SET', 'theirs', '1'])
      expect(await refused(engine.url, flag)).toMatch(/^The real Redis at .* is not empty .*$/)
      await engine.client.send(['DEL', 'theirs'])
      const held = await RealRedis.open(engine.url)
      expect(await refused(engine.url, flag)).toMatch(/^The real Redis .*another sandbox.*$/)
      await held.close()
    }
    expect(await refused(engine.url.replace('redis:', 'rediss:'))).toMatch(/^The real Redis at .* is unavailable: .*$/)
    await engine.client.send(['CONFIG', 'SET', 'requirepass', 's3cret'])
    expect(await refused(engine.url)).toMatch(/^The real Redis at .* rejects INFO: NOAUTH .*$/)
    expect(await refused(engine.url.replace('//', '//:wrong@'))).toMatch(/^The real Redis .*rejects .*password.*$/)
  },
  30_000,
)
