import type { Sandbox } from 'stuntdouble'
import { assertIdempotent, type RepetitionKind } from 'stuntdouble/checks'
import { describe, expect, test, vi } from 'vitest'

type Handler = (request: Request, task: unknown, sandbox: Sandbox) => Promise<Response>

/** Adds up, which is wrong when a message is repeated. */
const add: Handler = async (request, _, { store }) => {
  const { id } = (await request.json()) as { id: number }
  store.run('INCRBY', 'sum', id)
  return new Response()
}

/** Reads first and writes later, which is wrong when the second delivery comes between the two. */
const lookThenAdd: Handler = async (request, task, sandbox) => {
  const key = `seen:${request.headers.get('service-message-id')}`
  if (sandbox.store.get(key) !== null) return new Response()
  await request.clone().text()
  await new Promise((resolve) => setTimeout(resolve, 1))
  sandbox.store.run('SET', key, 1)
  return add(request, task, sandbox)
}

const addOnce: Handler = async (request, task, sandbox) => {
  const first = sandbox.store.run('SET', `seen:${request.headers.get('service-message-id')}`, 1, 'NX')
  return first === null ? new Response() : add(request, task, sandbox)
}

/** Stores the last message that arrives. */
const remember: Handler = async (request, _, { store }) => {
  store.run('SET', 'latest', await request.text())
  return new Response()
}

const broken = async (handler: Handler, under: RepetitionKind[], options = {}): Promise<string> =>
  assertIdempotent(handler, { under, ...options }).then(
    () => 'nothing',
    (error: Error) => `${error.name}: ${error.message}`,
  )

describe('assertIdempotent() finds a defect', () => {
  test.each<[Handler, RepetitionKind, string]>([
    [add, 'duplicate', 'sum = "4", without faults "3"'],
    [add, 'lost-ack', 'sum = "4", without faults "3"'],
    [add, 'concurrent', 'sum = "4", without faults "3"'],
    [lookThenAdd, 'concurrent', 'sum = "4", without faults "3"'],
    [remember, 'reorder', 'latest = "{\\"id\\":1}", without faults "{\\"id\\":2}"'],
  ])('of %o under %s', async (handler, repetition, difference) => {
    const message = await broken(handler, [repetition])
    expect(message).toMatch(new RegExp(`^IdempotenceError: .*not idempotent.* ${repetition}\\b`))
    expect(message).toContain(`  → ${difference}\n`)
    expect(message).toContain('message 1, attempt 1')
    expect(message).toContain('\n2030-01-01\n')
  })

  test('that only the second of two messages shows', async () => {
    const second: Handler = async (request, task, sandbox) =>
      ((await request.clone().json()) as { id: number }).id === 2 ? add(request, task, sandbox) : new Response()
    expect(await broken(second, ['lost-ack'])).toContain('sum = "4", without faults "2"')
  })

  test('in published messages', async () => {
    const forward: Handler = async (request, _, { queue }) => {
      if (request.url.includes('handler')) queue.publish({ to: 'https://mail.test/', body: await request.text() })
      return new Response()
    }
    expect(await broken(forward, ['duplicate'])).toMatch(
      /^ {2}→ POST https:\/\/mail\.test\/ "\{\\"id\\":1\}".*\b2 times.*\bonce$/m,
    )
    expect(await broken(forward, ['duplicate'], { ignoreOutbound: ['https://mail.test/*'] })).toBe('nothing')
  })

  test('in outbound requests', async () => {
    const pay: Handler = async (request) => {
      await fetch('https://bank.test/pay', { method: 'POST', body: await request.text() })
      return new Response()
    }
    const outbound = { 'https://bank.test/*': () => Response.json({ paid: true }) }
    expect(await broken(pay, ['lost-ack'], { outbound })).toMatch(
      /^ {2}→ POST https:\/\/bank\.test\/pay "\{\\"id\\":1\}".*\b2 times.*\bonce$/m,
    )
  })

  test('in the result of effect()', async () => {
    let mails = 0
    const mail: Handler = async () => {
      mails++
      return new Response()
    }
    const effect = () => {
      const sent = mails
      mails = 0
      return { sent }
    }
    expect(await broken(mail, ['duplicate'], { effect })).toContain(
      '  → effect() returned {"sent":3}, but {"sent":2} without faults\n',
    )
  })
})

describe('assertIdempotent() passes for a handler', () => {
  test('that deduplicates messages', async () => {
    await assertIdempotent(addOnce)
  })

  test('whose deduplication keys are ignored', async () => {
    const remembering: Handler = async (request, task, sandbox) => {
      sandbox.store.run('INCR', `tries:${request.headers.get('service-message-id')}`)
      return addOnce(request, task, sandbox)
    }
    expect(await broken(remembering, ['lost-ack'])).toContain('tries:')
    await assertIdempotent(remembering, { ignoreKeys: ['tries:*'] })
  })
})

describe('assertIdempotent() throws NotRepeatableError if effects differ in each run, because of', () => {
  const writes =
    (value: () => unknown): Handler =>
    async (request, _, { store }) => {
      const { id } = (await request.json()) as { id: number }
      // The order is created once for any number of deliveries, so the handler is idempotent.
      store.run('SET', `order:${id}`, String(value()), 'NX')
      return new Response()
    }
  const randomInt = () => Math.random()
  let counter = 0

  test.each<[string, () => unknown, string]>([
    ['randomUUID', () => crypto.randomUUID(), 'random IDs, as crypto.randomUUID() makes them'],
    ['Math.random', randomInt, 'random numbers, as Math.random() returns them'],
    ['Date.now', () => Date.now(), "the host's time, as Date returns it"],
    ['new Date', () => new Date().toISOString(), "the host's time, as Date returns it"],
    ['the day alone', () => new Date().toISOString().slice(0, 10), "the host's time, as Date returns it"],
    ['a counter', () => ++counter, 'the process keeps state between deliveries'],
  ])('%s', async (_, value, cause) => {
    const message = await broken(writes(value), ['duplicate'])
    expect(message).toMatch(/^NotRepeatableError: .*without any fault/)
    expect(message).toMatch(/\n {2}→ order:1 = "[^"]+", in the first run "[^"]+"\n/)
    expect(message).toContain(`The difference comes from `)
    expect(message).toContain(cause)
    expect(message).toContain("ignoreKeys: ['orders:*']")
    expect(message).not.toContain('not idempotent')
    expect(message.split('\n').length).toBeLessThanOrEqual(15)
  })

  test('assertIdempotent() names two sources of differences', async () => {
    const message = await broken(
      writes(() => `${crypto.randomUUID()} at ${new Date().toISOString()}`),
      ['duplicate'],
    )
    expect(message).toMatch(/crypto\.randomUUID\(\).*host's time.*\bDate\b/)
  })

  test('assertIdempotent() finds differences in a key, in a published message, and in the result of effect()', async () => {
    const key: Handler = async (_request, _, { store }) => {
      store.run('SET', `order:${crypto.randomUUID()}`, 1)
      return new Response()
    }
    expect(await broken(key, ['duplicate'])).toContain('random IDs')
    const send: Handler = async (request, _, { queue }) => {
      if (!request.url.includes('mail'))
        queue.publish({ to: 'https://mail.test/', body: { at: Date.now(), id: await request.text() } })
      return new Response()
    }
    expect(await broken(send, ['duplicate'])).toContain("the host's time")
    const effect = () => crypto.randomUUID()
    expect(await broken(addOnce, ['duplicate'], { effect })).toMatch(
      /→ effect\(\) returned "[^"]+", in the first run "/,
    )
  })

  test('assertIdempotent() accepts differences in effects that do not count', async () => {
    const both: Handler = async (request, task, sandbox) => {
      sandbox.store.run('SET', `log:${crypto.randomUUID()}`, Date.now())
      return addOnce(request, task, sandbox)
    }
    expect(await broken(both, ['duplicate'], { ignoreKeys: ['log:*'] })).toBe('nothing')
  })

  test('assertIdempotent() accepts a date that the test itself has frozen', async () => {
    vi.useFakeTimers({ now: 0, toFake: ['Date'] })
    try {
      expect(
        await broken(
          writes(() => Date.now()),
          ['duplicate'],
        ),
      ).toBe('nothing')
    } finally {
      vi.useRealTimers()
    }
  })

  test('assertIdempotent() still finds repeated effects of a handler that also reads the time', async () => {
    const looks: Handler = (request, task, sandbox) => (Date.now() > 0 ? add(request, task, sandbox) : Promise.reject())
    expect(await broken(looks, ['duplicate'])).toContain('IdempotenceError')
  })

  test('assertIdempotent() restores the date of the host', async () => {
    const [HostDate, { random }] = [Date, Math]
    await broken(
      writes(() => Date.now()),
      ['duplicate'],
    )
    expect(Date).toBe(HostDate)
    expect(Math.random).toBe(random)
  })
})

describe('assertIdempotent() ignores messages of `publish`', () => {
  test('with a body that differs in each run', async () => {
    const publish = ({ queue }: Sandbox) => {
      for (const id of [1, 2]) queue.publish({ to: 'https://handler.test/', body: { id, nonce: crypto.randomUUID() } })
    }
    expect(await broken(addOnce, ['duplicate', 'lost-ack', 'concurrent', 'reorder'], { publish })).toBe('nothing')
    expect(await broken(add, ['duplicate'], { publish })).toContain('sum = "4", without faults "3"')
  })

  test('but not messages that the handler publishes while `publish` moves time', async () => {
    const forward: Handler = async (request, _, { queue }) => {
      if (request.url.includes('handler')) queue.publish({ to: 'https://mail.test/', body: await request.text() })
      return new Response()
    }
    const publish = async ({ queue, clock }: Sandbox) => {
      for (const id of [1, 2]) {
        queue.publish({ to: 'https://handler.test/', body: { id } })
        await clock.advance('1h')
      }
    }
    const message = await broken(forward, ['lost-ack'], { publish })
    expect(message).toMatch(/POST https:\/\/mail\.test\/ "\{\\"id\\":1\}".*\b2 times.*\bonce$/m)
    expect(message).not.toContain('https://handler.test/ "')
  })
})

test('assertIdempotent() replays one failure with the printed line', async () => {
  const second: Handler = async (request, task, sandbox) =>
    ((await request.clone().json()) as { id: number }).id === 2 ? add(request, task, sandbox) : new Response()
  const message = await broken(second, ['reorder', 'lost-ack'])
  const [line] = /^Replay: assertIdempotent\(handler, \{ …, only: \['lost-ack 2'\] \}\)$/m.exec(message) ?? []
  expect(line).toBeDefined()
  let runs = 0
  const counted: Handler = (request, task, sandbox) => {
    runs++
    return second(request, task, sandbox)
  }
  const replayed = await assertIdempotent(counted, { only: ['lost-ack 2'] }).catch((error) => error)
  expect(`${replayed.name}: ${replayed.message}`).toBe(message)
  // Two undisturbed runs of two deliveries, and one of three.
  expect(runs).toBe(7)
  await expect(assertIdempotent(second, { only: ['lost-ack 3'] })).rejects.toThrow(
    /`only`.*"lost-ack 3".* lost-ack 1, lost-ack 2\.$/,
  )
})

test('assertIdempotent() throws a TypeError for invalid options', async () => {
  expect(await broken(add, ['twice' as RepetitionKind])).toMatch(
    /^TypeError: assertIdempotent\(\).*"twice".* duplicate, lost-ack, concurrent, reorder, lost-response\.$/,
  )
  expect(await broken(add, [])).toContain('`under` must not be empty')
  expect(
    await broken(add, ['reorder'], { publish: ({ queue }: Sandbox) => queue.publish({ to: 'https://a.test/' }) }),
  ).toContain("'reorder' needs two messages")
  expect(await broken(add, ['duplicate'], { publish: () => undefined })).toContain('nothing was delivered')
  expect(await broken(undefined as never, ['duplicate'])).toContain('assertIdempotent(): handler is missing')
  expect(await broken(add, 'duplicate' as never)).toMatch(/`under`.*list of duplicate, lost-ack/)
  const fails: Handler = () => {
    throw new Error('no shop')
  }
  expect(await broken(fails, ['duplicate'])).toMatch(/no delivery.*handler threw Error: no shop\./)
})
