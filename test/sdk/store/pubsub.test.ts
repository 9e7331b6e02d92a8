import { Redis } from '@upstash/redis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { replaceFetch } from '../../../src/adapters/fetch.js'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'

let sandbox: Sandbox
let redis: Redis

beforeEach(() => {
  sandbox = createSandbox()
  replaceFetch(sandbox)
  redis = new Redis({ url: sandbox.urls.store, token: sandbox.tokens.store, retry: false })
})

afterEach(() => sandbox.dispose())

type Subscriber = ReturnType<Redis['subscribe']>
type Kind = Parameters<Subscriber['on']>[0]

/** Collects the events of a subscriber. The function returned waits for this number of events. */
const heard = (subscriber: Subscriber, ...kinds: string[]) => {
  const events: unknown[] = []
  let waiting: { count: number; resolve: () => void } | undefined
  for (const kind of kinds) {
    subscriber.on(kind as Kind, (data: unknown) => {
      events.push([kind, data instanceof Error ? data.message : data])
      if (waiting && events.length >= waiting.count) waiting.resolve()
    })
  }
  return async (count: number) => {
    if (events.length < count) await new Promise<void>((resolve) => (waiting = { count, resolve }))
    return events
  }
}

describe('subscribe()', () => {
  it('receives the confirmation, then published messages, parsed', async () => {
    const subscriber = redis.subscribe('news')
    const events = heard(subscriber, 'subscribe', 'message', 'message:news', 'error')
    await events(1)
    expect(await redis.publish('news', { a: 1 })).toBe(1)
    expect(await redis.publish('news', 'plain, with commas, "and quotes"')).toBe(1)
    expect(await redis.publish('other', 'x')).toBe(0)
    expect(await events(5)).toEqual([
      ['subscribe', 1],
      ['message', { channel: 'news', message: { a: 1 } }],
      ['message:news', { channel: 'news', message: { a: 1 } }],
      ['message', { channel: 'news', message: 'plain, with commas, "and quotes"' }],
      ['message:news', { channel: 'news', message: 'plain, with commas, "and quotes"' }],
    ])
    await subscriber.unsubscribe()
  })

  it('counts from one for each of several channels, because each has its own request', async () => {
    const subscriber = redis.subscribe(['a', 'b'])
    const events = heard(subscriber, 'subscribe')
    expect(await events(2)).toEqual([
      ['subscribe', 1],
      ['subscribe', 1],
    ])
    expect(subscriber.getSubscribedChannels()).toEqual(['a', 'b'])
    expect(sandbox.store.run('PUBSUB', 'NUMSUB', 'a', 'b')).toEqual(['a', 1, 'b', 1])
  })

  it('does not encode a channel name: a space is kept, a slash separates two names, a question mark ends the name', async () => {
    const subscriber = redis.subscribe('ch a/b?c')
    const events = heard(subscriber, 'subscribe')
    expect(await events(2)).toEqual([
      ['subscribe', 1],
      ['subscribe', 2],
    ])
    expect(sandbox.store.run('PUBSUB', 'CHANNELS')).toEqual(['ch a', 'b'])
  })

  it('stops receiving immediately after unsubscribe()', async () => {
    const [first, second] = [redis.subscribe('news'), redis.subscribe(['news', 'more'])]
    await Promise.all([heard(first, 'subscribe')(1), heard(second, 'subscribe')(2)])
    expect(await redis.publish('news', 'x')).toBe(2)
    await second.unsubscribe(['news'])
    expect(await redis.publish('news', 'x')).toBe(1)
    expect(await redis.publish('more', 'x')).toBe(1)
    await Promise.all([first.unsubscribe(), second.unsubscribe()])
    expect(await redis.publish('news', 'x')).toBe(0)
    expect(sandbox.clock.pending).toEqual([])
  })

  it('reports an error that occurs before the stream', async () => {
    const wrong = new Redis({ url: sandbox.urls.store, token: 'wrong', retry: false })
    expect(await heard(wrong.subscribe('news'), 'error')(1)).toEqual([
      ['error', expect.stringMatching(/^WRONGPASS invalid or missing auth token/)],
    ])
    const token = String(sandbox.store.run('ACL', 'GENTOKEN', 'ann'))
    sandbox.store.run('ACL', 'SETUSER', 'ann', 'on', `>${token}`, '+subscribe', '&mine')
    const ann = new Redis({ url: sandbox.urls.store, token, retry: false })
    expect(await heard(ann.subscribe('yours'), 'error')(1)).toEqual([
      ['error', expect.stringMatching(/^NOPERM this user has no permissions to access one of the channels/)],
    ])
    expect(await heard(ann.subscribe('mine'), 'subscribe')(1)).toEqual([['subscribe', 1]])
  })

  it('ignores keep-alive comments', async () => {
    const subscriber = redis.subscribe('news')
    const events = heard(subscriber, 'subscribe', 'message', 'error')
    await events(1)
    await sandbox.clock.advance('1m')
    await redis.publish('news', 1)
    expect(await events(2)).toEqual([
      ['subscribe', 1],
      ['message', { channel: 'news', message: 1 }],
    ])
  })
})

describe('psubscribe()', () => {
  it('receives the pattern and the channel of a message', async () => {
    const subscriber = redis.psubscribe('user:*')
    const events = heard(subscriber, 'psubscribe', 'pmessage', 'pmessage:user:*', 'error')
    await events(1)
    expect(await redis.publish('user:1', { name: 'ann' })).toBe(1)
    const message = { pattern: 'user:*', channel: 'user:1', message: { name: 'ann' } }
    expect(await events(3)).toEqual([
      ['psubscribe', 1],
      ['pmessage', message],
      ['pmessage:user:*', message],
    ])
    await subscriber.unsubscribe(['user:*'])
    expect(await redis.publish('user:1', 'x')).toBe(0)
  })

  it('reports an error for a payload that is not JSON', async () => {
    const subscriber = redis.psubscribe(['a*', 'b*'])
    const events = heard(subscriber, 'pmessage', 'error')
    await heard(subscriber, 'psubscribe')(2)
    await redis.publish('apple', 'not json')
    expect(await events(1)).toEqual([['error', expect.stringMatching(/^Failed to parse message/)]])
  })

  it('receives keyspace notifications as texts', async () => {
    const raw = new Redis({
      url: sandbox.urls.store,
      token: sandbox.tokens.store,
      automaticDeserialization: false,
    })
    sandbox.store.run('CONFIG', 'SET', 'notify-keyspace-events', 'K$')
    const subscriber = raw.psubscribe('__keyspace@0__:*')
    const events = heard(subscriber, 'pmessage')
    await heard(subscriber, 'psubscribe')(1)
    await redis.set('k', 'v')
    expect(await events(1)).toEqual([
      ['pmessage', { pattern: '__keyspace@0__:*', channel: '__keyspace@0__:k', message: 'set' }],
    ])
  })
})
