// Two apps with branches that few fault plans reach, to measure the benefit of guidance.
import type { Sandbox } from 'stuntdouble'
import type { ResilienceOptions } from 'stuntdouble/fast-check'

type App = Pick<ResilienceOptions, 'publish' | 'handler' | 'holds' | 'drain' | 'stateOf'>

const shop = 'https://shop.test'
const ok = (): Response => new Response()

/** An order that is reserved, charged and shipped. A failed order is compensated, then retried once by hand. */
export const saga: App = {
  publish: ({ queue }) => void step(queue, 'reserve'),
  handler: {
    [`${shop}/reserve`]: (_, __, { queue, store }) => {
      store.run('SET', 'order', 'reserved')
      step(queue, 'charge')
      return ok()
    },
    [`${shop}/charge`]: (_, __, { queue, store }) => {
      store.run('SET', 'order', 'charged')
      step(queue, 'ship')
      return ok()
    },
    [`${shop}/ship`]: (_, __, { store }) => {
      store.run('SET', 'order', 'shipped')
      return ok()
    },
    [`${shop}/failed`]: (_, __, { queue, store }) => {
      const was = store.get('order') ?? 'new'
      store.run('SET', 'order', `${was.split(' ')[0]} failed`)
      queue.publish({ to: `${shop}/undo`, retries: 1, deduplicationId: `undo ${was}` })
      return ok()
    },
    [`${shop}/undo`]: (_, __, { store }) => {
      store.run('SET', 'order', `${(store.get('order') ?? 'new').split(' ')[0]} undone`)
      return ok()
    },
  },
  stateOf: ({ store }) => store.get('order') ?? 'new',
  async drain({ clock, queue }) {
    await clock.drain()
    for (const { id } of queue.deadLetters) queue.retryDeadLetter(id)
    await clock.drain()
  },
  holds: () => true,
}

function step(queue: Sandbox['queue'], name: string): void {
  const failed = { failureCallback: `${shop}/failed` }
  queue.publish({ to: `${shop}/${name}`, retries: 1, deduplicationId: name, ...failed })
}

/** Readings that must arrive in order, one at a time; one out of order starts a repair. */
export const line: App = {
  publish({ queue }) {
    for (let n = 1; n <= 3; n++)
      queue.publish({
        to: `${shop}/readings`,
        body: { n },
        retries: 2,
        flowControlKey: 'meter',
        flowControlValue: 'parallelism=1',
      })
  },
  handler: {
    [`${shop}/readings`]: async (request, _, { queue, store }) => {
      const { n } = (await request.json()) as { n: number }
      const last = Number(store.get('last') ?? 0)
      if (n === last + 1) store.run('SET', 'last', n)
      else {
        store.run('INCR', 'gaps')
        queue.publish({ to: `${shop}/repair`, retries: 1, deduplicationId: `repair ${last}` })
      }
      return ok()
    },
    [`${shop}/repair`]: (_, __, { store }) => {
      store.run('SET', 'last', 3)
      return ok()
    },
  },
  stateOf: ({ store }) => `at ${store.get('last') ?? 0}${store.get('gaps') === null ? '' : ', gaps'}`,
  holds: () => true,
}
