import { createSandbox, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { QueueModel } from '../../src/models/queue-model.js'
import { comingOf } from '../../src/models/upcoming.js'

async function schedule(sandbox: Sandbox, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${sandbox.tokens.queue}`, 'upstash-cron': '*/5 * * * *' }
  await sandbox.fetch(`${sandbox.urls.queue}/v2/schedules/https://shop.test/${id}`, {
    method: 'POST',
    headers: { ...headers, 'upstash-schedule-id': id },
  })
}

function modelOf(sandbox: Sandbox): QueueModel {
  const model = new QueueModel()
  model.add(sandbox.traffic.toTrace().entries)
  return model
}

test('schedulesOf() distinguishes a loaded schedule from one that has not fired', async () => {
  using origin = createSandbox()
  origin.destinations.respond('https://*', 200)
  await schedule(origin, 'nightly')
  await schedule(origin, 'hourly')
  origin.queue.pauseQueue('slow')
  await origin.clock.advance('12m')
  using sandbox = createSandbox()
  sandbox.destinations.respond('https://*', 200)
  sandbox.load(origin.dump())
  await schedule(sandbox, 'fresh')
  const imports = (): unknown =>
    modelOf(sandbox)
      .at({ seq: Number.POSITIVE_INFINITY, at: sandbox.clock.now() })
      .schedules.map(({ id, imported, fired }) => [id, imported ?? false, fired.length])
      .sort()
  expect(imports()).toEqual([
    ['fresh', false, 0],
    ['hourly', true, 0],
    ['nightly', true, 0],
  ])
  await sandbox.clock.advance('5m')
  // A schedule that is created again has no history.
  await schedule(sandbox, 'nightly')
  expect(imports()).toEqual([
    ['fresh', false, 1],
    ['hourly', true, 1],
    ['nightly', false, 0],
  ])
})

test('comingOf() returns the timers that fired later', async () => {
  using sandbox = createSandbox()
  sandbox.destinations.respond('https://shop.test/later', 200)
  sandbox.destinations.respond('https://shop.test/nightly', 200)
  sandbox.destinations.respond('https://shop.test/broken', 500)
  const later = sandbox.queue.publish({ to: 'https://shop.test/later', delay: '90s' })
  const broken = sandbox.queue.publish({ to: 'https://shop.test/broken', retries: 1, retryDelay: '120000' })
  await schedule(sandbox, 'nightly')
  const start = sandbox.clock.now()
  await sandbox.clock.advance('10m')
  const { entries } = sandbox.traffic.toTrace()
  const model = modelOf(sandbox)
  const coming = (seconds: number): unknown => {
    const point = { seq: Number.POSITIVE_INFINITY, at: start + seconds * 1000 }
    return comingOf(model.at(point), entries, point).map(({ at, what }) => [(at - start) / 1000, what])
  }
  const [first, retry, nightly] = [
    [90, `delivery of ${later.id} to https://shop.test/later`],
    [120, `retry 1 of ${broken.id} to https://shop.test/broken`],
    [300, 'schedule nightly to https://shop.test/nightly'],
  ]
  expect(coming(30)).toEqual([first, retry, nightly])
  expect(coming(100)).toEqual([retry, nightly])
  expect(coming(200)).toEqual([nightly])
  expect(coming(400)).toEqual([[600, 'schedule nightly to https://shop.test/nightly']])
  expect(coming(600)).toEqual([])
})
