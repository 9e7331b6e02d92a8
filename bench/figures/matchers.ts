// Cost of a matcher in a long log: passing over a bare filter loop, by message ID over a short log, and failing.
import { createSandbox, type Sandbox } from 'stuntdouble'
import { sandboxMatchers } from 'stuntdouble/matchers'
import type { Figure, Variant } from '../harness.ts'

const many = 100_000
const few = 1_000

/** Creates a log of about this many entries: two of three belong to separate messages, the others are commands. */
async function world(entries: number): Promise<{ sandbox: Sandbox; last: string }> {
  const sandbox = createSandbox()
  const { urls, clock, destinations, queue, tokens } = sandbox
  destinations.record('https://shop.test/*')
  const messages = Math.floor(entries / 3)
  let last = ''
  for (let index = 0; index < messages; index++) {
    const message = queue.publish({ to: `https://shop.test/orders/${index}`, body: { id: index }, retries: 0 })
    last = (message as { id: string }).id
  }
  await clock.drain()
  const headers = { authorization: `Bearer ${tokens.store}` }
  for (let index = 0; index < messages; index += 1000) {
    const rows = Array.from({ length: Math.min(1000, messages - index) }, (_, row) => [
      'SET',
      `key:${index + row}`,
      'x',
    ])
    await sandbox.fetch(`${urls.store}/pipeline`, { method: 'POST', headers, body: JSON.stringify(rows) })
  }
  return { sandbox, last }
}

type Name = keyof typeof sandboxMatchers

function matching(name: string, matcher: Name, received: unknown, ...given: unknown[]): Variant {
  return {
    name,
    run(times) {
      for (let count = 0; count < times; count++) {
        if (!sandboxMatchers[matcher].call({}, received, ...given).pass) throw new Error(`${name} does not pass.`)
      }
    },
  }
}

function filtering(sandbox: Sandbox, to: string): Variant {
  const { entries } = sandbox.traffic
  return {
    name: 'filter loop',
    run(times) {
      for (let count = 0; count < times; count++) {
        const found = entries.filter((entry) => entry.type === 'attempt' && entry.url === to)
        if (found.length !== 1) throw new Error('The loop finds nothing.')
      }
    },
  }
}

async function passing(): Promise<Figure> {
  const { sandbox } = await world(many)
  const number = Math.floor(many / 3) - 1
  const to = `https://shop.test/orders/${number}`
  return {
    name: 'a passing matcher over 100k entries, over a bare filter loop',
    baseline: filtering(sandbox, to),
    variants: [
      matching('toHavePublished', 'toHavePublished', sandbox, { to, retries: 0, body: { id: number } }),
      matching('toHaveDelivered', 'toHaveDelivered', sandbox, { to, attempts: 1, status: 200 }),
      matching('toHaveExecuted', 'toHaveExecuted', sandbox, 'SET', `key:${number}`, 'x'),
      matching('toFollowSequence', 'toFollowSequence', sandbox, [
        { type: 'published', to },
        { type: 'attempt', to, status: 200 },
        { type: 'command', argv: ['SET', `key:${number}`] },
      ]),
      matching('times', 'toHavePublished', sandbox, { to }, { times: 1 }),
    ],
    atMost: {
      toHavePublished: 2,
      toHaveDelivered: 2,
      toHaveExecuted: 2,
      toFollowSequence: 2,
      times: 2,
    },
    dispose: () => sandbox.dispose(),
  }
}

async function named(): Promise<Figure> {
  const [short, long] = [await world(few), await world(many)]
  const by = (messageId: string): object => ({ messageId, status: 200 })
  return {
    name: 'a matcher that names a message id in 100k entries, over 1k entries',
    baseline: matching('1k entries', 'toHaveDelivered', short.sandbox, by(short.last)),
    variants: [matching('100k entries', 'toHaveDelivered', long.sandbox, by(long.last))],
    atMost: { '100k entries': 2 },
    // With so short a turn, a garbage collection would affect some turns and not others.
    turn: 200,
    dispose: () => {
      short.sandbox.dispose()
      long.sandbox.dispose()
    },
  }
}

async function failing(): Promise<Figure> {
  const { sandbox } = await world(many)
  const to = 'https://shop.test/orders/none'
  const told = (name: string, matcher: Name, ...given: unknown[]): Variant => ({
    name,
    run(times) {
      for (let count = 0; count < times; count++) {
        const { pass, message } = sandboxMatchers[matcher].call({}, sandbox, ...given)
        if (pass || !message().includes('Nearest of')) throw new Error(`${name} does not fail.`)
      }
    },
  })
  const figure: Figure = {
    name: 'a failing matcher with near misses in 100k entries, over a bare filter loop',
    baseline: filtering(sandbox, `https://shop.test/orders/${Math.floor(many / 3) - 1}`),
    variants: [
      told('toHavePublished', 'toHavePublished', { to, retries: 0, body: { id: 42 } }),
      told('only the body', 'toHavePublished', { body: { id: -1 } }),
      told('only a header', 'toHavePublished', { headers: { 'x-tag': 'a' } }),
      told('toHaveDelivered', 'toHaveDelivered', { to, attempts: 2, status: 200, headers: { 'x-tag': 'a' } }),
      told('toHaveExecuted', 'toHaveExecuted', 'SET', 'key:none', 'y'),
    ],
    // Short enough not to be noticed, in milliseconds.
    within: {
      toHavePublished: 150_000,
      'only the body': 150_000,
      'only a header': 150_000,
      toHaveDelivered: 150_000,
      toHaveExecuted: 150_000,
    },
    rounds: 5,
    dispose: () => sandbox.dispose(),
  }
  return figure
}

export const figures = [passing, named, failing]
