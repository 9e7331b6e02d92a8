import { describe } from 'vitest'
import { defineScenario } from '../../src/scenarios/scenario.js'
import { command, story } from './story.js'

describe('callback before the commit', () => {
  // The page starts a job and stores its ID afterwards, but the job can finish earlier.
  const start = 'https://shop.test/start'
  const job = 'https://render.test/job'
  const done = 'https://shop.test/done'

  story({
    scenario: defineScenario({
      name: 'callback before commit',
      destinations: [{ url: job, response: { body: { video: 'v.mp4' } } }],
      steps: [{ publish: { to: start, body: { id: 7 }, retries: 0 } }, { drain: true }],
      expect: [
        { deliveredCallback: { to: done, status: 200 } },
        { key: { name: 'job:7', value: { id: '7', state: 'done' }, type: 'hash' } },
      ],
    }),
    broken: (sandbox) => {
      sandbox.destinations.on(start, async (request, task) => {
        const { id } = (await request.json()) as { id: number }
        sandbox.queue.publish({ to: job, body: { id }, callback: done })
        // The database is slow: the transaction is committed a second later.
        await task.sleep('1s')
        await command(sandbox, 'HSET', `job:${id}`, 'id', id, 'state', 'rendering')
        return new Response('started')
      })
      sandbox.destinations.on(done, async (request) => finish(await request.json()))
      const finish = async (callback: unknown): Promise<Response> => {
        const { id } = JSON.parse(atob((callback as { sourceBody: string }).sourceBody)) as { id: number }
        // The job is not stored yet, and the 200 tells the queue that the callback succeeded.
        if ((await command(sandbox, 'EXISTS', `job:${id}`)) === 0) return new Response('unknown job')
        await command(sandbox, 'HSET', `job:${id}`, 'state', 'done')
        return new Response('done')
      }
    },
    fixed: (sandbox) => {
      sandbox.destinations.on(start, async (request, task) => {
        const { id } = (await request.json()) as { id: number }
        await task.sleep('1s')
        await command(sandbox, 'HSET', `job:${id}`, 'id', id, 'state', 'rendering')
        // Publishes after the row is stored.
        sandbox.queue.publish({ to: job, body: { id }, callback: done })
        return new Response('started')
      })
      sandbox.destinations.on(done, async (request) => {
        const { sourceBody } = (await request.json()) as { sourceBody: string }
        const { id } = JSON.parse(atob(sourceBody)) as { id: number }
        // The status 404 for an unknown job causes a retry.
        if ((await command(sandbox, 'EXISTS', `job:${id}`)) === 0) return new Response('unknown job', { status: 404 })
        await command(sandbox, 'HSET', `job:${id}`, 'state', 'done')
        return new Response('done')
      })
    },
    breaks: /✗ expect\[1\]\.key[\s\S]*'rendering'/,
  })
})

describe('poison message in a FIFO queue', () => {
  // One message that cannot be parsed holds its slot through all its retries, so later messages miss their deadline.
  const mail = 'https://shop.test/mail'

  story({
    scenario: defineScenario({
      name: 'poison message blocking a FIFO queue',
      startAt: '2030-01-01T09:00:00Z',
      given: { queues: { mail: { parallelism: 1 } } },
      steps: [
        { publish: { to: mail, as: 'poison', queue: 'mail', body: '{"to":', retries: 3 } },
        { publish: { to: mail, as: 'mails', queue: 'mail', times: 3, body: { to: 'ada-{n}' }, retries: 3 } },
        { advance: '1m' },
        { expect: { delivered: { message: 'mails', times: 3 } } },
        { drain: true },
      ],
      expect: [{ deadLetter: { message: 'poison' } }, { invariants: ['fifo-per-queue', 'no-lost-message'] }],
    }),
    broken: (sandbox) => {
      sandbox.destinations.on(mail, async (request) => {
        const { to } = (await request.json()) as { to: string }
        return new Response(`sent to ${to}`)
      })
    },
    // Status 489 with the header of a non-retryable error frees the queue immediately.
    fixed: (sandbox) => {
      sandbox.destinations.on(mail, async (request) => {
        const mail = await request.json().catch(() => undefined)
        if (mail === undefined) {
          return new Response('cannot be read', { status: 489, headers: { 'Service-NonRetryable-Error': 'true' } })
        }
        return new Response(`sent to ${(mail as { to: string }).to}`)
      })
    },
    breaks: [/✗ steps\[3\]\.expect\.delivered/, /Expected exactly 3 messages|Expected exactly 3/],
  })
})

describe('handler that is slower than its schedule', () => {
  // The schedule fires every minute and a run takes ninety seconds, so two runs process the same rows.
  const sync = 'https://shop.test/sync'

  story({
    scenario: defineScenario({
      name: 'schedule overlap of a long handler',
      startAt: '2030-01-01T09:00:30Z',
      given: { schedules: [{ id: 'sync', cron: '* * * * *', to: sync, retries: 0 }] },
      steps: [{ advance: '5m' }, { pauseSchedule: 'sync' }, { drain: true }],
      expect: [
        { delivered: { scheduleId: 'sync', times: 5 } },
        { key: { name: 'most at once', value: '1' } },
        { invariants: ['schedule-on-time'] },
      ],
    }),
    broken: (sandbox) => {
      sandbox.destinations.on(sync, async (_request, task) => {
        const running = (await command(sandbox, 'INCR', 'running')) as number
        const most = Number(await command(sandbox, 'GET', 'most at once'))
        if (running > most) await command(sandbox, 'SET', 'most at once', running)
        await task.sleep('90s')
        await command(sandbox, 'DECR', 'running')
        return new Response('synced')
      })
    },
    // A lock that expires with its holder. A run without the lock leaves the work to the next minute.
    fixed: (sandbox) => {
      sandbox.destinations.on(sync, async (_request, task) => {
        if ((await command(sandbox, 'SET', 'lock:sync', 1, 'NX', 'EX', 120)) === null)
          return new Response('still running')
        const running = (await command(sandbox, 'INCR', 'running')) as number
        const most = Number(await command(sandbox, 'GET', 'most at once'))
        if (running > most) await command(sandbox, 'SET', 'most at once', running)
        await task.sleep('90s')
        await command(sandbox, 'DECR', 'running')
        await command(sandbox, 'DEL', 'lock:sync')
        return new Response('synced')
      })
    },
    breaks: /✗ expect\[1\]\.key[\s\S]*expected '1', received '2'/,
  })
})
