import type { Sandbox } from 'stuntdouble'
import { expectIdempotent, type Repetition } from 'stuntdouble/fast-check'
import { describe, expect, test } from 'vitest'

type Handler = (request: Request, task: unknown, sandbox: Sandbox) => Promise<Response>

/** Adds up: wrong whenever a message comes twice. */
const add: Handler = async (request, _, { store }) => {
  const { id } = (await request.json()) as { id: number }
  store.run('INCRBY', 'sum', id)
  return new Response()
}

/** Looks first and writes later: wrong when the second comes between the two. */
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

/** The last one wins, whichever that is. */
const remember: Handler = async (request, _, { store }) => {
  store.run('SET', 'latest', await request.text())
  return new Response()
}

const broken = async (handler: Handler, under: Repetition[], options = {}): Promise<string> =>
  expectIdempotent(handler, { under, ...options }).then(
    () => 'nothing',
    (error: Error) => `${error.name}: ${error.message}`,
  )

describe('a handler is found out', () => {
  test.each<[Handler, Repetition, string]>([
    [add, 'duplicate', 'sum = "4", without faults "3"'],
    [add, 'lost-ack', 'sum = "4", without faults "3"'],
    [add, 'concurrent', 'sum = "4", without faults "3"'],
    [lookThenAdd, 'concurrent', 'sum = "4", without faults "3"'],
    [remember, 'reorder', 'latest = "{\\"id\\":1}", without faults "{\\"id\\":2}"'],
  ])('%o under %s', async (handler, repetition, difference) => {
    const message = await broken(handler, [repetition])
    expect(message).toMatch(new RegExp(`^NotIdempotent: The handler is not idempotent under ${repetition}: the `))
    expect(message).toContain(`  → ${difference}\n`)
    expect(message).toContain('message 1, attempt 1')
    expect(message).toContain('\n2030-01-01\n')
  })

  test('by the second of two messages alone', async () => {
    const second: Handler = async (request, task, sandbox) =>
      ((await request.clone().json()) as { id: number }).id === 2 ? add(request, task, sandbox) : new Response()
    expect(await broken(second, ['lost-ack'])).toContain('sum = "4", without faults "2"')
  })

  test('by what it publishes', async () => {
    const forward: Handler = async (request, _, { queue }) => {
      if (request.url.includes('handler')) queue.publish({ to: 'https://mail.test/', body: await request.text() })
      return new Response()
    }
    expect(await broken(forward, ['duplicate'])).toContain(
      '  → POST https://mail.test/ "{\\"id\\":1}" went out 2 times, without faults once\n',
    )
    expect(await broken(forward, ['duplicate'], { ignoreCalls: ['https://mail.test/*'] })).toBe('nothing')
  })

  test('by whom it calls', async () => {
    const pay: Handler = async (request) => {
      await fetch('https://bank.test/pay', { method: 'POST', body: await request.text() })
      return new Response()
    }
    const calls = { 'https://bank.test/*': () => Response.json({ paid: true }) }
    expect(await broken(pay, ['lost-ack'], { calls })).toContain(
      '  → POST https://bank.test/pay "{\\"id\\":1}" went out 2 times, without faults once\n',
    )
  })

  test('by what only its test knows', async () => {
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
      '  → effect() gave {"sent":3}, without faults {"sent":2}\n',
    )
  })
})

describe('a handler passes', () => {
  test('that remembers what it has seen', async () => {
    await expectIdempotent(addOnce)
  })

  test('whose memory does not count', async () => {
    const remembering: Handler = async (request, task, sandbox) => {
      sandbox.store.run('INCR', `tries:${request.headers.get('service-message-id')}`)
      return addOnce(request, task, sandbox)
    }
    expect(await broken(remembering, ['lost-ack'])).toContain('tries:')
    await expectIdempotent(remembering, { ignoreKeys: ['tries:*'] })
  })
})

test('misuse is told', async () => {
  expect(await broken(add, ['twice' as Repetition])).toBe(
    'TypeError: expectIdempotent() knows no "twice". It knows duplicate, lost-ack, concurrent, reorder.',
  )
  expect(await broken(add, [])).toContain('`under` is empty')
  expect(
    await broken(add, ['reorder'], { deliver: ({ queue }: Sandbox) => queue.publish({ to: 'https://a.test/' }) }),
  ).toContain("'reorder' needs two messages")
  expect(await broken(add, ['duplicate'], { deliver: () => undefined })).toContain('nothing was delivered')
  expect(await broken(undefined as never, ['duplicate'])).toContain('expectIdempotent() needs a handler')
  expect(await broken(add, 'duplicate' as never)).toContain('`under` is a list of duplicate, lost-ack')
  const fails: Handler = () => {
    throw new Error('no shop')
  }
  expect(await broken(fails, ['duplicate'])).toContain('no message was delivered: the handler threw Error: no shop.')
})
