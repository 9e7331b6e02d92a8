import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findRedisServer } from '../../../../test/support/redis-server.js'
import { lease, manyBlows, type Storm, storm } from './storm.js'
import {
  brokenPromises,
  brokenStreams,
  lostDeliveries,
  lostWrites,
  otherTraces,
  repeated,
  traces,
  twoOwners,
} from './storm-checks.js'

const seconds = 300

describe.skipIf(findRedisServer() === undefined)(
  `a storm of ${seconds} s over three nodes and three Redis servers`,
  () => {
    let after: Storm
    beforeAll(
      async () => {
        after = await storm({
          seconds,
          tenants: 200,
          workers: 16,
          pause: 15,
          blows: manyBlows(seconds),
        })
      },
      seconds * 1000 + 120_000,
    )
    afterAll(() => after?.close(), 60_000)

    test('loses no delivery, and repeats one only after a takeover', async () => {
      expect(await lostDeliveries(after)).toEqual([])
    })

    test('loses no acknowledged write, and does nothing that was reported as not done', {
      timeout: 120_000,
    }, async () => {
      expect(await lostWrites(after)).toEqual([])
      expect(after.books.mistakes).toEqual([])
    })

    test('loses no message in the middle of a stream', () => {
      expect(brokenStreams(after)).toEqual([])
      expect(after.listeners.every(({ segments }) => segments.some(({ heard }) => heard.length > 0))).toBe(true)
    })

    test('is reported by tenants of an unavailable Redis, and the others continue', () => {
      expect(after.away.its.filter((told) => !/^503 1 .*engine.*away/.test(told))).toEqual([])
      expect(after.away.its.length).toBeGreaterThan(0)
      expect(after.away.others.filter((told) => !told.startsWith('200 '))).toEqual([])
    })

    test('gives no tenant two owners', async () => {
      const { wrong, fences } = await twoOwners(after)
      expect(wrong).toEqual([])
      expect(fences).toBeGreaterThan(1)
    })

    test('violates no invariant of a tenant', async () => {
      expect(await brokenPromises(after)).toEqual([])
    })

    test('leaves journals that one node replays to the same traces', { timeout: 180_000 }, async () => {
      const before = await traces(after)
      await after.alone()
      const again = await traces(after)
      expect(otherTraces(before, again)).toEqual([])
      expect([...before.values()].reduce((sum, { entries }) => sum + entries.length, 0)).toBeGreaterThan(
        after.books.answers,
      )
      expect(await lostWrites(after)).toEqual([])
    })

    test('caused load, and tenants of a lost node were available soon', () => {
      const { answers, refusals } = after.books
      const told = [...after.takeOvers].sort((one, other) => one - other)
      console.log(
        `storm: ${answers} answers, ${refusals} refusals, ${after.receiver.arrivals.length} deliveries, ${repeated(after)} of them again; take-overs with a lease of ${lease} ms: median ${told[told.length >> 1]} ms, slowest ${told.at(-1)} ms`,
      )
      expect(answers).toBeGreaterThan(20 * seconds)
      expect(told.length).toBeGreaterThan(0)
      // On an idle machine it takes two seconds.
      expect(told[told.length >> 1]).toBeLessThan(20_000)
    })
  },
)
