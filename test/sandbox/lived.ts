import { createSandbox, fault, type Sandbox } from 'stuntdouble'

const code = "#!lua name=shop\nredis.register_function('price', function() return 7 end)"

/** A sandbox with at least one of everything that a dump contains. */
export async function lived(startAt: number): Promise<Sandbox> {
  const sandbox = createSandbox({ startAt, clock: 'manual' })
  const { store, queue, clock, destinations, urls, tokens } = sandbox
  store.run('SET', 'plain', 'v')
  store.run('SET', 'brief', 'v', 'EX', '7200')
  store.run('HSET', 'hash', 'f', '1', 'g', '2')
  store.run('HEXPIRE', 'hash', '9000', 'FIELDS', '1', 'f')
  store.run('XADD', 'stream', '5-1', 'a', 'b')
  store.run('XADD', 'stream', '6-1', 'c', 'd')
  store.run('ARRING', 'ring', 3, 'a', 'b', 'c', 'd')
  store.run('XGROUP', 'CREATE', 'stream', 'workers', '0')
  store.run('XREADGROUP', 'GROUP', 'workers', 'ada', 'COUNT', '1', 'STREAMS', 'stream', '>')
  for (const row of [
    ['ZADD', 'z', '1', 'm'],
    ['RPUSH', 'l', 'e'],
    ['JSON.SET', 'j', '$', '{"a":1}'],
  ])
    store.run(...row)
  store.run('FUNCTION', 'LOAD', code)
  store.run('ACL', 'SETUSER', 'ada', 'on', '~*', '+@read')
  queue.urlGroups.addEndpoints('group', ['https://a.test/', 'https://b.test/'])
  queue.upsertQueue('lane', { parallelism: 2 })
  destinations.respond('https://*.test/*', 200)
  destinations.script('https://bad.test/*', [
    fault.status(500),
    fault.status(500),
    fault.status(500),
    fault.status(500),
    fault.status(500),
  ])
  queue.publish({ to: 'https://bad.test/gone', retries: 0 })
  queue.publish({ to: 'https://bad.test/again', retries: 3 })
  queue.publish({ to: 'https://a.test/', flowControlKey: 'k', flowControlValue: 'rate=1, period=1d' })
  queue.publish({ to: 'https://a.test/', flowControlKey: 'k', flowControlValue: 'rate=1, period=1d' })
  queue.publish({ to: 'https://a.test/', deduplicationId: 'once' })
  queue.publish({ to: 'https://a.test/later', delay: '3h', queue: 'lane' })
  const headers = {
    authorization: `Bearer ${tokens.queue}`,
    'Service-Cron': '*/10 * * * *',
    'Service-Schedule-Id': 's',
  }
  await sandbox.fetch(`${urls.queue}/v2/schedules/https://a.test/tick`, { method: 'POST', headers })
  await clock.advance('11m')
  return sandbox
}
