import { stripVTControlCharacters } from 'node:util'
import { Redis } from '@upstash/redis'
import fc from 'fast-check'
import type { Sandbox } from 'stuntdouble'
import { type ConcurrentClient, exploreInterleavings } from 'stuntdouble/checks'
import { describe, expect, test } from 'vitest'
import '../../../matchers/vitest.js'
import { isReplay, runs, seedOr } from '../../../test/support/effort.js'

// Disables the limit of host time in these tests.
const within = '1h' as const

async function send(sandbox: Sandbox, path: string, body: unknown): Promise<unknown> {
  const answer = await sandbox.fetch(sandbox.urls.store + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    body: JSON.stringify(body),
  })
  return answer.json()
}
type Words = readonly (string | number)[]
const run = async (sandbox: Sandbox, ...words: Words) =>
  ((await send(sandbox, '', words)) as { result: unknown }).result
const redis = (sandbox: Sandbox) => new Redis({ url: sandbox.urls.store, token: sandbox.tokens.store })
const via = { intercept: 'fetch', dialect: 'upstash' } as const
const stocked = ({ store }: Sandbox) => void store.run('SET', 'stock', 10)
const failureOf = (check: () => void): string => {
  try {
    check()
  } catch (error) {
    return stripVTControlCharacters((error as Error).message)
  }
  throw new Error('it holds')
}

/** hiett/serverless-redis-http#25: a pipeline reads, and a transaction writes a value that was computed from it. */
const buy: ConcurrentClient = async (sandbox) => {
  const store = redis(sandbox)
  const [stock] = await store.pipeline().get<number>('stock').get('price').exec<[number, unknown]>()
  await store
    .multi()
    .set('stock', stock - 1)
    .incr('sold')
    .exec()
}
const buyByScript: ConcurrentClient = (sandbox) =>
  redis(sandbox).eval("redis.call('incr', KEYS[2]) return redis.call('decr', KEYS[1])", ['stock', 'sold'], [])

describe('exploreInterleavings() with a lost update between a pipeline and a transaction', () => {
  test('finds and names the anomaly of two clients, in a few lines', async () => {
    const tried = await exploreInterleavings({
      setup: stocked,
      clients: { alice: buy, bob: buy },
      sandbox: via,
      timeBudget: within,
    })
    expect([tried.holds, tried.complete]).toEqual([false, true])
    expect(tried.failures[0]).toMatchObject({
      anomaly: { name: 'lost-update', keys: ['stock'] },
      differences: [{ subject: 'stock', actual: '"9"', expected: '"8"' }],
    })
    const message = failureOf(() => expect(tried).toHold())
    const [head = ''] = message.split('\n\n2030-01-01')
    expect(head.split('\n').length).toBeLessThanOrEqual(15)
    expect(head).toBe(`expect(tried).toHold()

Lost update: 4 of 6 orders of alice and bob fail. They represent all 20 orders, because the other orders only swap requests that do not affect each other.
  → 1  alice  pipeline 1/2: get stock        10
    2  alice  pipeline 2/2: get price        nil
    3  bob    pipeline 1/2: get stock        10
    4  bob    pipeline 2/2: get price        nil
  → 5  bob    MULTI: set stock 9; incr sold  OK; 1
  → 6  alice  MULTI: set stock 9; incr sold  OK; 2
alice read stock in step 1, bob changed it in step 5, and alice overwrote it in step 6 without having read the change.
  stock = "9", expected "8" (alice, then bob)

Hint: Check and write in one atomic step, for example with a single command or a Lua script.
Replay: exploreInterleavings({ …, replay: 'alice alice bob bob bob alice' })`)
    expect(() => expect(tried).not.toHold()).not.toThrow()
  })

  test('finds it with three clients, too, and stops at the first failure if asked to', async () => {
    const options = {
      setup: stocked,
      clients: { alice: buy, bob: buy, carol: buy },
      sandbox: via,
      timeBudget: within,
    } as const
    const tried = await exploreInterleavings(options)
    expect(tried.complete).toBe(true)
    expect(new Set(tried.failures.map(({ anomaly: flaw }) => flaw!.name))).toEqual(new Set(['lost-update']))
    const early = await exploreInterleavings({ ...options, stopOnFirstFailure: true })
    expect(early.runs).toBeLessThan(tried.runs)
    expect([early.complete, early.failures.length]).toEqual([false, 1])
    expect(early.table()).toMatch(/stopped.*first failure/)
  })

  test('passes for the fixed version: one script, or one atomic command', async () => {
    const clients = { alice: buyByScript, bob: buyByScript, carol: buyByScript }
    const tried = await exploreInterleavings({ setup: stocked, clients, sandbox: via, timeBudget: within })
    expect(tried).toHold()
    expect(tried.complete).toBe(true)
    expect(tried.outcomes.every(({ sandbox }) => sandbox.store.get('stock') === '7')).toBe(true)
    expect(failureOf(() => expect(tried).not.toHold())).toMatch(/\b6 orders.*alice, bob and carol hold\..*\bAll\b/)
  })

  test('takes clients as a list', async () => {
    const tried = await exploreInterleavings({ setup: stocked, clients: [buy, buy], sandbox: via, timeBudget: within })
    expect(tried.failures[0]!.replay.split(' ')[0]).toBe('client-1')
  })
})

describe('exploreInterleavings() names the anomaly', () => {
  const get = (key: string) => (sandbox: Sandbox) => run(sandbox, 'GET', key)
  const flawOf = async (alice: ConcurrentClient, bob: ConcurrentClient, ...given: Words[]) => {
    const prepare = ({ store }: Sandbox) => {
      for (const words of given) store.run(...words)
    }
    const tried = await exploreInterleavings({ clients: { alice, bob }, setup: prepare, timeBudget: within })
    return tried.failures.map(({ anomaly: flaw }) => flaw!.name)
  }

  test('double spend: both clients read, both take', async () => {
    const spend: ConcurrentClient = async (sandbox) => {
      if (Number(await get('balance')(sandbox)) > 0) await run(sandbox, 'DECR', 'balance')
    }
    expect(await flawOf(spend, spend, ['SET', 'balance', 1])).toContain('double-spend')
  })

  test('write skew: each client reads what the other one changes', async () => {
    const leave =
      (own: string, other: string): ConcurrentClient =>
      async (sandbox) => {
        if ((await get(other)(sandbox)) === 'on') await run(sandbox, 'SET', own, 'off')
      }
    const given: Words[] = [
      ['SET', 'a', 'on'],
      ['SET', 'b', 'on'],
    ]
    expect(await flawOf(leave('a', 'b'), leave('b', 'a'), ...given)).toEqual(['write-skew'])
  })

  test('read skew: a client sees half of a change', async () => {
    const move: ConcurrentClient = async (sandbox) => {
      await run(sandbox, 'DECR', 'a')
      await run(sandbox, 'INCR', 'b')
    }
    const sum: ConcurrentClient = async (sandbox) => [await get('a')(sandbox), await get('b')(sandbox)]
    expect(new Set(await flawOf(move, sum, ['SET', 'a', 5], ['SET', 'b', 5]))).toEqual(new Set(['read-skew']))
  })

  test('dirty read, non-repeatable read, mixed writes', async () => {
    const twice: ConcurrentClient = async (sandbox) => {
      await run(sandbox, 'SET', 'a', 'draft')
      await run(sandbox, 'SET', 'a', 'final')
    }
    expect(await flawOf(twice, get('a'))).toEqual(['dirty-read'])
    const look: ConcurrentClient = async (sandbox) => [await get('a')(sandbox), await get('a')(sandbox)]
    expect(await flawOf(look, (sandbox) => run(sandbox, 'SET', 'a', 1))).toEqual(['non-repeatable-read'])
    const both =
      (value: string): ConcurrentClient =>
      async (sandbox) => {
        await run(sandbox, 'SET', 'a', value)
        await run(sandbox, 'SET', 'b', value)
      }
    expect(new Set(await flawOf(both('x'), both('y')))).toEqual(new Set(['mixed-writes']))
  })

  test('stale check: a message is published because of an old value', async () => {
    const remind: ConcurrentClient = async (sandbox) => {
      if ((await get('paid')(sandbox)) === null) sandbox.queue.publish({ to: 'https://shop.test/remind' })
    }
    const publishing: ConcurrentClient = async (sandbox) => {
      if ((await get('paid')(sandbox)) !== null) return
      await sandbox.fetch(`${sandbox.urls.queue}/v2/publish/https://shop.test/remind`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sandbox.tokens.queue}` },
      })
    }
    const pay: ConcurrentClient = async (sandbox) => {
      const before = await run(sandbox, 'GET', 'paid')
      await run(sandbox, 'SET', 'paid', 1)
      return before
    }
    const prepare = ({ destinations }: Sandbox) => void destinations.respond('*', 200)
    for (const client of [remind, publishing]) {
      const holds = ({ store, traffic }: Sandbox) => {
        const paid = traffic.ofType('command').find(({ argv }) => String(argv[0]) === 'SET')
        const reminded = traffic.ofType('published')[0]
        return reminded === undefined || reminded.seq < paid!.seq || store.get('paid') === null
      }
      const tried = await exploreInterleavings({
        clients: { bob: pay, mail: client },
        setup: prepare,
        holds,
        timeBudget: within,
      })
      const isSeen = client === publishing
      expect(tried.failures.map(({ anomaly: flaw }) => flaw!.name)).toEqual(isSeen ? ['stale-check'] : [])
    }
  })
})

describe('exploreInterleavings() skips only equivalent orders', () => {
  const key = fc.constantFrom('a', 'b', 'c')
  const word = fc.oneof(
    fc.tuple(fc.constantFrom('GET', 'INCR', 'DEL', 'EXISTS'), key),
    fc.tuple(fc.constant('SET'), key, fc.constantFrom('1', '7')),
    fc.tuple(fc.constant('RENAMENX'), key, key),
    fc.tuple(fc.constant('MSET'), key, fc.constant('2'), key, fc.constant('3')),
    fc.constantFrom<string[]>(['DBSIZE'], ['EVAL', "return redis.call('incr', 'b')", '0'], ['SPOP', 's']),
  )
  /** Commands, single or as a transaction; the third one depends on the values that were read. */
  const turn = fc.oneof(
    { weight: 4, arbitrary: word.map((words) => ({ form: '', rows: [words] })) },
    {
      weight: 1,
      arbitrary: fc.array(word, { minLength: 2, maxLength: 2 }).map((rows) => ({ form: '/multi-exec', rows })),
    },
  )
  const turns = fc.array(turn, { minLength: 1, maxLength: 3 })
  const client =
    (list: readonly { form: string; rows: readonly (readonly string[])[] }[]): ConcurrentClient =>
    async (sandbox) => {
      const seen: string[] = []
      for (const { form, rows } of list) {
        const answer = JSON.stringify(await send(sandbox, form, form === '' ? rows[0] : rows))
        seen.push(answer)
        // The next command depends on the replies.
        if (answer.includes('7')) await run(sandbox, 'INCR', 'seven')
      }
      return seen
    }

  test('reaches the same outcomes with reduction as without (property)', async () => {
    let saved = 0
    await fc.assert(
      fc.asyncProperty(fc.array(turns, { minLength: 2, maxLength: 3 }), async (lists) => {
        fc.pre(lists.flat().length <= 6)
        const clients = Object.fromEntries(lists.map((list, at) => [`c${at}`, client(list)]))
        const prepare = ({ store }: Sandbox) => void store.run('SADD', 's', 1, 2, 3)
        const options = { clients, setup: prepare, timeBudget: within }
        const reduced = await exploreInterleavings(options)
        const all = await exploreInterleavings({ ...options, skipEquivalent: false })
        const endings = ({ outcomes }: typeof all) =>
          outcomes
            .map(({ holds, sandbox, steps }) => JSON.stringify([holds, sandbox.store.dump().keys, lastReplies(steps)]))
            .sort()
        expect([reduced.complete, all.complete]).toEqual([true, true])
        expect(endings(reduced)).toEqual(endings(all))
        expect(reduced.runs).toBeLessThanOrEqual(all.runs)
        saved += all.runs - reduced.runs
      }),
      { numRuns: runs(15, 15, 150), seed: seedOr(17) },
    )
    if (!isReplay) expect(saved).toBeGreaterThan(30)
  })

  /** Returns the replies that each client saw. */
  const lastReplies = (steps: readonly { client: string; reply: string }[]) =>
    steps.map(({ client, reply }) => `${client}: ${reply}`).sort()

  test('tries one order of clients without common keys, in addition to the serial orders', async () => {
    const own =
      (name: string): ConcurrentClient =>
      async (sandbox) => {
        for (let nth = 0; nth < 4; nth++) await run(sandbox, 'INCR', name)
      }
    const tried = await exploreInterleavings({ clients: { a: own('a'), b: own('b'), c: own('c') }, timeBudget: within })
    // Six permutations and three round robins, one of which is also the order from the tree.
    expect([tried.runs, tried.complete]).toEqual([9, true])
    expect(tried.table()).toContain('They represent all 34,650')
  })

  test.each([
    [2, 2, 6],
    [3, 1, 6],
    [2, 3, 20],
    [3, 2, 90],
  ])('tries %i clients with %i requests for the same key in %i orders', async (count, requests, orders) => {
    const work: ConcurrentClient = async (sandbox) => {
      for (let nth = 0; nth < requests; nth++) await run(sandbox, 'INCR', 'n')
    }
    const tried = await exploreInterleavings({
      clients: Array<ConcurrentClient>(count).fill(work),
      holds: () => true,
      timeBudget: within,
    })
    expect([tried.runs, tried.complete]).toEqual([orders, true])
  })

  test('does not reduce the orders of clients that share a variable', async () => {
    const shared = () => {
      let isTaken = false
      return {
        setup: () => {
          isTaken = false
        },
        clients: {
          alice: async (sandbox: Sandbox) => {
            await run(sandbox, 'INCR', 'a')
            isTaken = true
            await run(sandbox, 'INCR', 'a')
            isTaken = false
          },
          bob: async (sandbox: Sandbox) => {
            await run(sandbox, 'INCR', 'b')
            if (isTaken) await run(sandbox, 'INCR', 'taken')
          },
        },
        holds: ({ store }: Sandbox) => store.get('taken') === null,
      }
    }
    const tried = await exploreInterleavings({ ...shared(), timeBudget: within })
    expect([tried.holds, tried.complete]).toEqual([false, true])
  })

  test('distinguishes two concurrent requests of one client', async () => {
    const both: ConcurrentClient = (sandbox) =>
      Promise.all([run(sandbox, 'APPEND', 'x', '1'), run(sandbox, 'APPEND', 'x', '2')])
    const one: ConcurrentClient = (sandbox) => run(sandbox, 'APPEND', 'x', '3')
    const tried = await exploreInterleavings({
      clients: { alice: both, bob: one },
      holds: () => true,
      timeBudget: within,
    })
    expect(new Set(tried.outcomes.map(({ sandbox }) => sandbox.store.get('x')))).toEqual(
      new Set(['123', '132', '213', '231', '312', '321']),
    )
    expect(tried.outcomes.some(({ replay }) => replay === 'alice#2 bob alice')).toBe(true)
  })
})

describe('exploreInterleavings() replays an order', () => {
  const bytesOf = ({ sandbox }: { sandbox: Sandbox }) => JSON.stringify(sandbox.traffic.entries)

  test('byte for byte, although the clients use randomness and time', async () => {
    const noisy: ConcurrentClient = async (sandbox) => {
      await run(sandbox, 'SET', `key:${crypto.randomUUID()}`, Date.now())
      await buy(sandbox)
      return Math.random()
    }
    const options = { setup: stocked, clients: { alice: noisy, bob: noisy }, sandbox: via, timeBudget: within } as const
    const tried = await exploreInterleavings({ ...options, stopOnFirstFailure: true })
    const failure = tried.failures[0]!
    for (let time = 0; time < 2; time++) {
      const again = await exploreInterleavings({ ...options, replay: failure.replay })
      expect([again.runs, again.failures.length]).toEqual([1, 1])
      expect(bytesOf(again.failures[0]!)).toBe(bytesOf(failure))
      expect(again.report()).toMatch(/This order.*alice and bob.*not hold/)
    }
  })

  test('exploreInterleavings() tries the orders in the same sequence each time', async () => {
    const options = {
      setup: stocked,
      clients: { alice: buy, bob: buy, carol: buy },
      sandbox: via,
      timeBudget: within,
      maxRuns: 12,
    }
    const [one, two] = [await exploreInterleavings(options), await exploreInterleavings(options)]
    expect(one.table()).toBe(two.table())
    expect([one.runs, one.complete]).toEqual([12, false])
    expect(one.notTried).toMatch(/^orders that begin with /)
    expect(one.table()).toMatch(/Tried 12 .*[\d,]+ orders.*not tried: orders that begin/)
  })

  test('exploreInterleavings() explains why an order cannot be replayed', async () => {
    const options = { setup: stocked, clients: { alice: buy, bob: buy }, sandbox: via, timeBudget: within } as const
    const problem = (replay: string) => exploreInterleavings({ ...options, replay }).catch((error) => error.message)
    expect(await problem('alice carol')).toMatch(/replay.*"carol".*not .*client\b.* alice, bob\./)
    expect(await problem('alice alice alice alice')).toMatch(/step 4\b.*of alice.*only bob/)
    expect(await problem('alice alice alice bob bob bob bob')).toMatch(/ended after 6 steps/)
  })
})

describe('exploreInterleavings() ends', () => {
  test('with a client that waits for a message that is never sent', async () => {
    const waits: ConcurrentClient = async (sandbox) => {
      await run(sandbox, 'INCR', 'x')
      await new Promise(() => {})
    }
    const tried = await exploreInterleavings({ clients: { alice: waits, bob: waits }, timeBudget: within, maxRuns: 3 })
    expect(tried.failures[0]!.reason).toContain('alice and bob never ended')
  })

  test('with a client that polls forever', async () => {
    const spins: ConcurrentClient = async (sandbox) => {
      while ((await run(sandbox, 'GET', 'never')) === null);
    }
    const tried = await exploreInterleavings({ clients: { alice: spins, bob: spins }, timeBudget: within, maxRuns: 2 })
    expect(tried.failures[0]!.reason).toContain('requests and have not ended')
  })

  test('with a lock that is polled', async () => {
    const locked: ConcurrentClient = async (sandbox) => {
      while ((await run(sandbox, 'SET', 'lock', 1, 'NX')) === null);
      const seen = Number(await run(sandbox, 'GET', 'n'))
      await run(sandbox, 'SET', 'n', seen + 1)
      await run(sandbox, 'DEL', 'lock')
    }
    const holds = ({ store }: Sandbox) => store.get('n') === '2'
    const tried = await exploreInterleavings({
      clients: { alice: locked, bob: locked },
      holds,
      timeBudget: within,
      maxRuns: 60,
    })
    expect(tried).toHold()
  })

  test('with a client that waits for virtual time', async () => {
    const prepare = ({ faults }: Sandbox) =>
      void faults.add({ on: 'store.request', times: 1, fault: { kind: 'latency', waitMs: 60_000 } })
    const work: ConcurrentClient = (sandbox) => run(sandbox, 'INCR', 'n')
    const tried = await exploreInterleavings({
      clients: { alice: work, bob: work },
      setup: prepare,
      holds: () => true,
      timeBudget: within,
    })
    expect([tried.complete, tried.outcomes.every(({ sandbox }) => sandbox.store.get('n') === '2')]).toEqual([
      true,
      true,
    ])
  })

  test('with a client that throws in every order, and with one that asserts', async () => {
    const broken: ConcurrentClient = async (sandbox) => {
      await run(sandbox, 'INCR', 'n')
      throw new TypeError('stock.map is not a function')
    }
    const fine: ConcurrentClient = (sandbox) => run(sandbox, 'INCR', 'n')
    await expect(exploreInterleavings({ clients: { alice: fine, bob: broken }, timeBudget: within })).rejects.toThrow(
      /\bbob throws.*alone.*: stock\.map is not a function/,
    )
    const asserts: ConcurrentClient = async (sandbox) => expect(await run(sandbox, 'INCR', 'n')).toBe(1)
    const tried = await exploreInterleavings({
      clients: { alice: fine, bob: asserts },
      holds: () => true,
      timeBudget: within,
    })
    expect(tried.failures[0]!.reason).toMatch(/\bbob threw.*expected 2 to be 1/)
  })

  test('exploreInterleavings() throws a TypeError for invalid options', async () => {
    const fine: ConcurrentClient = (sandbox) => run(sandbox, 'INCR', 'n')
    const problem = (options: object) => exploreInterleavings(options as never).catch((error) => error.message)
    expect(await problem({ clients: { alice: fine } })).toMatch(/clients.*two to 5\b.*functions/)
    expect(await problem({ clients: { 'alice b': fine, bob: fine } })).toMatch(/one word.*#.*"alice b"/)
    expect(await problem({ clients: { alice: fine, bob: fine }, maxRuns: 0 })).toContain(
      'maxRuns must be a whole number',
    )
    expect(await problem({ clients: { alice: fine, bob: fine }, replay: '' })).toContain('replay must list the clients')
    expect(await problem({ clients: { alice: () => 1, bob: () => 2 } })).toContain('no client has sent a request')
    expect(() => expect(exploreInterleavings({ clients: { alice: fine, bob: fine } })).toHold()).toThrow(
      'Await it first',
    )
    // @ts-expect-error: nothing was explored
    expect(() => expect({ holds: true }).toHold()).toThrow(/toHold\(\).*result of exploreFaults\(\)/)
  })
})
