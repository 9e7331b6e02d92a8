import { setImmediate } from 'node:timers/promises'
import { Lock } from '@upstash/lock'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type LibraryWorld, openWorld, type Place } from './library-worlds.js'

// The unmodified lock library, on virtual time.

let world: LibraryWorld

const places: Place[] = ['in process', 'against the server', 'at the root of a server']

describe.each(places)('lock %s', (place) => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
    world = await openWorld(place)
  })

  afterEach(async () => {
    await world.close()
    vi.useRealTimers()
  })

  const once = { retry: { attempts: 1, delay: 0 } }
  const lockOf = (id = 'lock', lease = 10_000) => new Lock({ id, redis: world.redis, lease, ...once })

  it('has one holder at a time', async () => {
    const [ann, ben] = [lockOf(), lockOf()]
    expect(await ann.getStatus()).toBe('FREE')
    expect(await ann.acquire()).toBe(true)
    expect(await refused(ben.acquire())).toBe(false)
    expect(await ann.getStatus()).toBe('ACQUIRED')
    expect(await ben.getStatus()).toBe('FREE')
    expect(await ben.release()).toBe(false)
    expect(await ann.release()).toBe(true)
    expect(await ann.release()).toBe(false)
    expect(await ben.acquire()).toBe(true)
    expect(await lockOf('other').acquire()).toBe(true)
  })

  it('ends with its lease', async () => {
    const [ann, ben] = [lockOf(), lockOf()]
    await ann.acquire({ lease: 5000 })
    await world.advance(4999)
    expect(await ann.getStatus()).toBe('ACQUIRED')
    await world.advance(1)
    expect(await ann.getStatus()).toBe('FREE')
    expect(await ben.acquire()).toBe(true)
    expect(await ann.release()).toBe(false)
    expect(await ben.getStatus()).toBe('ACQUIRED')
  })

  it('can be extended while it is held', async () => {
    const ann = lockOf('lock', 5000)
    await ann.acquire({ uuid: 'ann' })
    expect(await ann.extend(10_000)).toBe(true)
    expect(await world.redis.pttl('lock')).toBe(15_000)
    await world.advance(14_999)
    expect(await ann.getStatus()).toBe('ACQUIRED')
    await world.advance(1)
    expect(await ann.getStatus()).toBe('FREE')
    expect(await ann.extend(1000)).toBe(false)
  })

  it('is acquired by repeated attempts once its lease has ended', async () => {
    const [ann, ben] = [lockOf('lock', 5000), lockOf()]
    await ann.acquire()
    const start = world.now()
    let acquiredAt: number | undefined
    const waiting = ben.acquire({ retry: { attempts: 20, delay: 1000 } }).then((acquired) => {
      acquiredAt = world.now()
      return acquired
    })
    for (let second = 0; second < 30 && acquiredAt === undefined; second++) {
      await settled()
      await world.advance('1s')
      await settled()
    }
    expect(await waiting).toBe(true)
    expect(acquiredAt).toBe(start + 5000)
  })

  /** Returns the result of a failing attempt, which waits for its delay once more before it ends. */
  async function refused(acquiring: Promise<boolean>): Promise<boolean> {
    await settled()
    await world.advance(1)
    return acquiring
  }
})

/** Waits for the requests in transit, on virtual and real networks. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await setImmediate()
}
