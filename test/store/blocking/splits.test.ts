import fc from 'fast-check'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { runs } from '../../support/effort.js'

// Workers that wait repeatedly, and timers that add elements: in all divisions of time into steps, every client gets
// the same at the same time.

const span = 60_000

/** Many of these coincide. */
const wait = fc.oneof(
  fc.integer({ min: 1, max: 12 }).map((seconds) => seconds * 1000),
  fc.integer({ min: 1, max: 20_000 }),
)
const seconds = fc.oneof(
  fc.constant('0'),
  wait.map((ms) => String(ms / 1000)),
)
const key = fc.constantFrom('a', 'b', 'c')
const end = fc.constantFrom('LEFT', 'RIGHT')

const waiting = fc.oneof(
  fc.tuple(fc.constantFrom('BLPOP', 'BRPOP'), key, key, seconds),
  fc.tuple(fc.constant('BLMOVE'), key, key, end, end, seconds),
  fc.tuple(fc.constant('BZPOPMIN'), fc.constantFrom('z', 'y'), seconds),
  fc.tuple(
    fc.constant('XREAD'),
    fc.constant('BLOCK'),
    wait.map(String),
    fc.constant('STREAMS'),
    fc.constant('s'),
    fc.constant('$'),
  ),
  fc.tuple(fc.constant('WAIT'), fc.constant('1'), wait.map(String)),
)
const bringing = fc.oneof(
  fc.tuple(fc.constant('RPUSH'), key, fc.constant('x')),
  fc.tuple(fc.constant('RPUSH'), key, fc.constant('x'), fc.constant('y')),
  fc.tuple(fc.constant('ZADD'), fc.constantFrom('z', 'y'), fc.constant('1'), fc.constant('m')),
  fc.tuple(fc.constant('XADD'), fc.constant('s'), fc.constant('*'), fc.constant('f'), fc.constant('v')),
  fc.tuple(fc.constant('SET'), key, fc.constant('text'), fc.constant('PX'), fc.constant('2000')),
  fc.tuple(fc.constant('RENAME'), key, key),
)

interface World {
  /** Commands that each worker repeats in order. */
  readonly workers: readonly (readonly (readonly string[])[])[]
  readonly timers: readonly { readonly after: number; readonly command: readonly string[] }[]
}
const world: fc.Arbitrary<World> = fc.record({
  workers: fc.array(fc.array(waiting, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
  timers: fc.array(fc.record({ after: wait, command: bringing }), { maxLength: 12 }),
})

function begin(sandbox: Sandbox, { workers, timers }: World): void {
  const { clock, store } = sandbox
  for (const { after, command } of timers) {
    clock.schedule(clock.now() + after, 'bring', () => {
      try {
        store.run(...command)
      } catch {
        // The key has another type.
      }
    })
  }
  for (const commands of workers) {
    const work = async (): Promise<void> => {
      const connection = sandbox.store.connect()
      for (let round = 0; round < 400; round++) {
        try {
          await connection.run(...commands[round % commands.length]!)
        } catch {
          if (sandbox.clock.now() >= Date.UTC(2030, 0, 1) + span) return
          // If the key has another type, the worker tries again later.
          await connection.run('WAIT', 1, 1000)
        }
      }
    }
    void work().catch(() => {})
  }
}

async function history(given: World, steps: readonly number[]): Promise<string[]> {
  using sandbox = createSandbox({ startAt: '2030-01-01T00:00:00Z', seed: 3 })
  begin(sandbox, given)
  const start = sandbox.clock.now()
  for (const at of [...steps].sort((a, b) => a - b)) await sandbox.clock.advanceTo(start + at)
  await sandbox.clock.advanceTo(start + span)
  return sandbox.traffic.entries.flatMap((entry) =>
    entry.type === 'command' ? [JSON.stringify([entry.at - start, entry.argv, entry.reply, entry.error])] : [],
  )
}

test('advancing in parts gives the same result as advancing once', async () => {
  await fc.assert(
    fc.asyncProperty(world, fc.array(fc.integer({ min: 0, max: span }), { maxLength: 8 }), async (given, steps) => {
      expect(await history(given, steps)).toEqual(await history(given, []))
    }),
    { numRuns: runs(60, 60, 600) },
  )
})
