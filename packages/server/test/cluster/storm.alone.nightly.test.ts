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

describe.skipIf(findRedisServer() === undefined)(`a storm of ${seconds} s over three nodes and three engines`, () => {
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

  test('no delivery is lost, and none made again but by a node that took over', { timeout: 120_000 }, async () => {
    expect(await lostDeliveries(after)).toEqual([])
  })

  test('no acknowledged write is lost, nor anything done of which it was said that nothing was', {
    timeout: 120_000,
  }, async () => {
    expect(await lostWrites(after)).toEqual([])
    expect(after.books.mistakes).toEqual([])
  })

  test('streams lack nothing in the middle', () => {
    expect(brokenStreams(after)).toEqual([])
    expect(after.listeners.every(({ segments }) => segments.some(({ heard }) => heard.length > 0))).toBe(true)
  })

  test('while an engine was away its tenants said so, and the others went on', () => {
    expect(after.away.its.filter((told) => !/^503 1 .*engine.*away/.test(told))).toEqual([])
    expect(after.away.its.length).toBeGreaterThan(0)
    expect(after.away.others.filter((told) => !told.startsWith('200 '))).toEqual([])
  })

  test('no tenant had two owners', async () => {
    const { wrong, fences } = await twoOwners(after)
    expect(wrong).toEqual([])
    expect(fences).toBeGreaterThan(1)
  })

  test('what every tenant did keeps the promises', { timeout: 120_000 }, async () => {
    expect(await brokenPromises(after)).toEqual([])
  })

  test('one node alone that plays the journals has the same traces', { timeout: 180_000 }, async () => {
    const before = await traces(after)
    await after.alone()
    const again = await traces(after)
    expect(otherTraces(before, again)).toEqual([])
    expect([...before.values()].reduce((sum, { entries }) => sum + entries.length, 0)).toBeGreaterThan(
      after.books.answers,
    )
    expect(await lostWrites(after)).toEqual([])
  })

  test('there was a load, and the tenants of a lost node were soon back', () => {
    const { answers, refusals } = after.books
    const told = [...after.takeOvers].sort((one, other) => one - other)
    console.log(
      `storm: ${answers} answers, ${refusals} refusals, ${after.receiver.arrivals.length} deliveries, ${repeated(after)} of them again; take-overs with a lease of ${lease} ms: median ${told[told.length >> 1]} ms, slowest ${told.at(-1)} ms`,
    )
    expect(answers).toBeGreaterThan(20 * seconds)
    expect(told.length).toBeGreaterThan(0)
    // Two seconds on a machine with nothing else to do.
    expect(told[told.length >> 1]).toBeLessThan(20_000)
  })
})
