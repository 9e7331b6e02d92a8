// Cost of capturing over the same work without capturing, and of opening the HTML report of ten thousand entries. Each
// turn begins with an empty log, because a log grows while a test runs.
import { createSandbox, type Sandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { toHtml } from 'stuntdouble/report'
import type { Figure, Variant } from '../harness.ts'

const url = 'https://shop.test/orders'
const off = { policy: { maxTrafficEntries: 0 } } as const

function commands(name: string, options: object, perTest: number): Variant {
  return {
    name,
    async run(times) {
      for (let left = times; left > 0; left -= perTest) {
        using sandbox = createSandbox(options)
        sandbox.store.run('SET', 'greeting', 'hello')
        const init: RequestInit = {
          method: 'POST',
          body: '["GET","greeting"]',
          headers: { authorization: `Bearer ${sandbox.tokens.store}`, 'content-type': 'application/json' },
        }
        const restore = replaceFetch(sandbox)
        for (let count = Math.min(left, perTest); count > 0; count--) {
          await (await fetch(`${sandbox.urls.store}/`, init)).text()
        }
        restore()
      }
    },
  }
}

/** One sandbox per test, because the garbage collector copies what a log keeps. */
function storeCommand(): Figure {
  return {
    name: 'a store command through stuntdouble/fetch in a test of 200, captured over not captured',
    baseline: commands('nothing captured', off, 200),
    variants: [commands('captured', {}, 200)],
    rounds: 15,
    turn: 100,
    atMost: { captured: 1.05 },
  }
}

function manyCommands(): Figure {
  return {
    name: 'a store command through stuntdouble/fetch in a test of 2,000, captured over not captured',
    baseline: commands('nothing captured', off, 2000),
    variants: [commands('captured', {}, 2000)],
    rounds: 15,
    turn: 100,
    atMost: { captured: 1.1 },
  }
}

let spent = 0

/** Counts only the work, not its preparation. */
async function counted(work: () => Promise<void>): Promise<void> {
  globalThis.gc?.()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  spent = user + system
}

function attempts(name: string, options: object, move: (sandbox: Sandbox, times: number) => Promise<void>): Variant {
  return {
    name,
    run(times) {
      const sandbox = createSandbox(options)
      sandbox.destinations.respond(url, () => 200)
      for (let index = 0; index < times; index++) {
        sandbox.queue.publish({ to: url, body: '{"id":1}', delay: `${index + 1}s` })
      }
      return counted(() => move(sandbox, times))
    },
  }
}

function drainedAttempts(): Figure {
  const drain = (sandbox: Sandbox, times: number): Promise<void> => sandbox.clock.drain({ maxTimers: times * 2 })
  return {
    name: 'a virtual attempt, captured over not captured',
    baseline: attempts('nothing captured', off, drain),
    variants: [attempts('captured', {}, drain)],
    times: 50_000,
    rounds: 9,
    reading: () => spent,
    atMost: { captured: 1.15 },
  }
}

/** The test moves time for each attempt, so the log has a move of time for each. */
function steppedAttempts(): Figure {
  const step = async (sandbox: Sandbox, times: number): Promise<void> => {
    for (let count = 0; count < times; count++) await sandbox.clock.advance(1000)
  }
  return {
    name: 'a virtual attempt with a move of time of its own, captured over not captured',
    baseline: attempts('nothing captured', off, step),
    variants: [attempts('captured', {}, step)],
    times: 20_000,
    rounds: 9,
    reading: () => spent,
    atMost: { captured: 1.15 },
  }
}

function writtenReport(): Figure {
  const sandbox = createSandbox()
  sandbox.destinations.respond(url, () => 200)
  for (let count = 0; count < 3000; count++) sandbox.queue.publish({ to: url, body: { id: count } })
  const variant = (name: string, run: () => unknown): Variant => ({
    name,
    async run(times) {
      if (sandbox.traffic.ofType('attempt').length === 0) await sandbox.clock.drain()
      for (let count = 0; count < times; count++) run()
    },
  })
  return {
    name: 'writing 6,000 entries, over JSON.stringify of the bare entries',
    baseline: variant('bare entries', () => JSON.stringify(sandbox.traffic.entries)),
    variants: [
      variant('trace', () => JSON.stringify(sandbox.traffic)),
      variant('HAR', () => JSON.stringify(sandbox.traffic.toHar())),
      variant('timeline', () => sandbox.traffic.timeline()),
      variant('HTML', () => toHtml(sandbox.traffic)),
    ],
    rounds: 5,
  }
}

export const figures = [storeCommand, manyCommands, drainedAttempts, steppedAttempts, writtenReport]
