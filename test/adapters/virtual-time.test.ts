import { setupServer } from 'msw/node'
import { mswHandlers } from 'stuntdouble/msw'
import { fastNetwork } from 'stuntdouble/msw/fast'
import { describe, expect, test } from 'vitest'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { latin1 } from '../../src/kernel/bytes.js'
import { Clock, gateOf, letOutsideContinue } from '../../src/kernel/clock.js'
import { sandboxUrlsOf } from '../../src/protocol/address.js'
import { neutralDialect } from '../../src/protocol/dialect.js'
import type { Exchange } from '../../src/protocol/service.js'
import { fetchThrough } from '../../src/protocol/web.js'

/** A service whose responses take 10 ms of virtual time. */
function slowWorld() {
  const clock = new Clock({ startAt: 0 })
  const arrivals: number[] = []
  const exchange: Exchange = () => {
    arrivals.push(clock.now())
    return clock.track('request', async (task) => {
      await task.sleep(10)
      letOutsideContinue(clock)
      return { status: 200, headers: [['content-type', 'text/plain']], body: latin1('ok') }
    })
  }
  const addresses = sandboxUrlsOf()
  const ends: (() => void)[] = []
  return {
    clock,
    arrivals,
    urls: addresses,
    dialect: neutralDialect,
    owns: (url: string) => url.startsWith(addresses.store),
    fetch: (input: Request | string | URL, init?: RequestInit) => fetchThrough(gateOf(clock), exchange, input, init),
    ends,
    onDispose: (end: () => void) => {
      ends.push(end)
      return () => {}
    },
  }
}

type SlowWorld = ReturnType<typeof slowWorld>

const ways: Readonly<Record<string, (world: SlowWorld) => () => void>> = {
  'stuntdouble/fetch': (world) => replaceFetch(world),
  'stuntdouble/msw': (world) => {
    const server = setupServer(...mswHandlers(world))
    server.listen()
    return () => server.close()
  },
  'stuntdouble/msw/fast': (world) => {
    const network = fastNetwork(world)
    network.enable()
    return () => network.disable()
  },
}

describe.each(Object.keys(ways))('a client of a slow service, through %s', (way) => {
  test('sends its next request at the instant of the response, regardless of how far the clock is moved', async () => {
    const world = slowWorld()
    const stop = ways[way]!(world)
    const close = (): void => {
      stop()
      for (const end of world.ends) end()
    }
    try {
      const answers: number[] = []
      const client = async (): Promise<void> => {
        for (let count = 0; count < 5; count++) {
          await (await fetch(`${world.urls.store}/get/a`)).text()
          answers.push(world.clock.now())
        }
      }
      const done = client()
      // A real client needs a moment until its first request has arrived.
      while (world.arrivals.length === 0) await new Promise((resolve) => setImmediate(resolve))
      await world.clock.advance('1h')
      await done
      expect(world.arrivals).toEqual([0, 10, 20, 30, 40])
      expect(answers).toEqual([10, 20, 30, 40, 50])
    } finally {
      close()
    }
  })
})
