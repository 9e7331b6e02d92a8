import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Bytes } from '../../src/kernel/bytes.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.js'
import type { Store } from '../../src/store/direct-store.js'
import { runs } from '../support/effort.js'

const names = ['eu', 'us'] as const
type Place = (typeof names)[number] | undefined

type Step =
  | { readonly wait: number }
  | { readonly place: Place; readonly via: 'direct' | 'rest' | 'connection'; readonly argv: readonly string[] }
  | { readonly place: Place; readonly resets: true }
  | { readonly place: Place; readonly reads: string }

const place: fc.Arbitrary<Place> = fc.constantFrom(undefined, ...names)
const key = fc.constantFrom('a', 'b', 'c')
const word = fc.constantFrom('1', '2', 'x', 'y')

/** Commands whose replies do not depend on random numbers. */
const plain: fc.Arbitrary<string[]> = fc.oneof(
  fc.tuple(fc.constantFrom('GET', 'DEL', 'TYPE', 'PTTL', 'LPOP', 'LLEN', 'SMEMBERS', 'HGETALL', 'INCR'), key),
  fc.tuple(fc.constantFrom('SET', 'APPEND', 'RPUSH', 'SADD', 'PFADD', 'GETSET'), key, word),
  fc.tuple(fc.constant('SET'), key, word, fc.constant('PX'), fc.constantFrom('5', '30')),
  fc.tuple(fc.constant('HSET'), key, word, word),
  fc.tuple(fc.constant('ZADD'), key, fc.constantFrom('1', '2'), word),
  fc.tuple(fc.constant('XADD'), key, fc.constant('*'), word, word),
  fc.tuple(fc.constant('EVAL'), fc.constant("return redis.call('INCR', KEYS[1])"), fc.constant('1'), key),
  fc.constantFrom(['DBSIZE'], ['KEYS', '*'], ['FLUSHALL'], ['PUBLISH', 'news', 'x'], ['NO-SUCH-COMMAND']),
  fc.constantFrom(['ACL', 'SETUSER', 'ann', 'on', '~*', '+@all'], ['ACL', 'DELUSER', 'ann'], ['ACL', 'USERS']),
) as fc.Arbitrary<string[]>

/** Commands that draw random numbers. */
const drawing: fc.Arbitrary<string[]> = fc.oneof(
  fc.tuple(fc.constant('SADD'), key, word, fc.constantFrom('3', '4', '5')),
  fc.tuple(fc.constantFrom('SPOP', 'SRANDMEMBER'), key),
  fc.constantFrom(['RANDOMKEY'], ['ACL', 'GENPASS'], ['SCAN', '0', 'COUNT', '1']),
) as fc.Arbitrary<string[]>

function steps(argv: fc.Arbitrary<string[]>): fc.Arbitrary<Step[]> {
  const via = fc.constantFrom('direct' as const, 'rest' as const, 'connection' as const)
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.record({ place, via, argv }) },
    { weight: 2, arbitrary: fc.record({ wait: fc.constantFrom(1, 10, 40) }) },
    { weight: 1, arbitrary: fc.record({ place, resets: fc.constant(true as const) }) },
    { weight: 1, arbitrary: fc.record({ place, reads: key }) },
  )
  return fc.array(step, { maxLength: 30 })
}

const storeAt = (sandbox: Sandbox, at: Place): Store => (at === undefined ? sandbox.store : sandbox.storeIn(at))

/** Runs one step and returns what its client sees. */
const take = (sandbox: Sandbox, step: Step): Promise<unknown> => takeAt(sandbox, step, placeOf(step))

const placeOf = (step: Step): Place => ('place' in step ? step.place : undefined)

async function takeAt(sandbox: Sandbox, step: Step, at: Place): Promise<unknown> {
  if ('wait' in step) return sandbox.clock.advance(step.wait).then(() => undefined)
  const store = storeAt(sandbox, at)
  if ('reads' in step) return attempt(() => store.get(step.reads))
  if ('resets' in step) return store.resetPassword()
  const { argv, via } = step
  if (via === 'direct') return attempt(() => store.run(...argv))
  if (via === 'connection') return attempt(() => store.connect().run(...(argv as unknown as Bytes[])))
  const { urls, tokens } = sandbox
  const url = at === undefined ? urls.store : urls.databases[at]!
  const { store: token } = at === undefined ? tokens : tokens.databases[at]!
  const headers = { authorization: `Bearer ${token}` }
  const response = await sandbox.fetch(url, { method: 'POST', headers, body: JSON.stringify(argv) })
  return [response.status, await response.text()]
}

async function attempt(run: () => unknown): Promise<unknown> {
  try {
    return await run()
  } catch (error) {
    return String(error)
  }
}

const optionsOf = (more: SandboxOptions = {}): SandboxOptions => ({
  seed: 5,
  databases: names,
  onWarning() {},
  ...more,
})
const keysOf = (sandbox: Sandbox): readonly unknown[] => sandbox.stores.map((store) => store.dump())

describe('random worlds with several databases', () => {
  test('each database replies as the store of a sandbox of its own', async () => {
    await fc.assert(
      fc.asyncProperty(steps(plain), async (all) => {
        using sandbox = createSandbox(optionsOf())
        const seen: [Step, unknown][] = []
        for (const step of all) seen.push([step, await take(sandbox, step)])
        for (const at of [undefined, ...names]) {
          using lone = createSandbox({ seed: 5, onWarning() {} })
          for (const [step, reply] of seen) {
            if ('resets' in step || ('place' in step && step.place !== at)) continue
            expect(await takeAt(lone, step, undefined)).toEqual(reply)
          }
          expect(storeAt(sandbox, at).dump()).toEqual(lone.store.dump())
          expect(storeAt(sandbox, at).cost()).toEqual(lone.store.cost())
        }
      }),
      { numRuns: runs(25, 60, 600) },
    )
  })

  test('the first database draws the same random numbers as without the option', async () => {
    await fc.assert(
      fc.asyncProperty(steps(fc.oneof(plain, drawing)), async (all) => {
        using sandbox = createSandbox(optionsOf())
        using lone = createSandbox({ seed: 5, onWarning() {} })
        for (const step of all) {
          const reply = await take(sandbox, step)
          if (!('place' in step) || step.place === undefined) expect(await take(lone, step)).toEqual(reply)
        }
        const { databases: _, version: __, ...dump } = sandbox.dump()
        const { version: ___, ...other } = lone.dump()
        expect(dump).toEqual(other)
      }),
      { numRuns: runs(25, 60, 600) },
    )
  })

  test('forks, views of the past, loaded dumps and replays equal their origin', async () => {
    await fc.assert(
      fc.asyncProperty(steps(fc.oneof(plain, drawing)), steps(drawing), async (all, later) => {
        using sandbox = createSandbox(optionsOf())
        const past: { readonly seq: number; readonly keys: readonly unknown[] }[] = []
        for (const step of all) {
          await take(sandbox, step)
          const seq = sandbox.traffic.last()?.seq ?? 0
          if (seq > (past.at(-1)?.seq ?? 0)) past.push({ seq, keys: keysOf(sandbox) })
        }
        const dump = sandbox.dump()
        using fork = await sandbox.fork()
        expect(fork.dump()).toEqual(dump)
        using loaded = createSandbox(optionsOf())
        loaded.load(dump)
        expect({ ...loaded.dump(), loads: 0 }).toEqual(dump)
        expect(loaded.tokens).toEqual(sandbox.tokens)
        for (const { seq, keys } of past) {
          const view = sandbox.asOf({ seq })
          const stores = [view.store, ...names.map((name) => view.storeIn(name))]
          expect(lasting(stores.map((one) => one.dump()))).toEqual(lasting(keys))
        }
        for (const step of later) expect(await take(fork, step)).toEqual(await take(sandbox, step))
        expect(fork.dump()).toEqual(sandbox.dump())
        const { length } = past
        if (length > 0) {
          const { seq, keys } = past[Math.floor(length / 2)]!
          using earlier = await sandbox.fork({ at: { seq } })
          expect(lasting(keysOf(earlier))).toEqual(lasting(keys))
        }
        sandbox.reset()
        expect(sandbox.dump()).toEqual(createSandbox(optionsOf()).dump())
      }),
      { numRuns: runs(15, 40, 400) },
    )
  })
})

/** Returns the keys without an expiration. Other keys may have expired between the latest entry and the dump. */
function lasting(dumps: readonly unknown[]): readonly unknown[] {
  return dumps.map((dump) => {
    const { keys } = dump as { readonly keys: readonly { readonly expiresAt?: number }[] }
    return keys.filter(({ expiresAt }) => expiresAt === undefined)
  })
}
