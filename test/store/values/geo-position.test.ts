import { describe, expect, it } from 'vitest'
import type { Bytes } from '../../../src/kernel/bytes.js'
import { formatCoordinate, formatDistance } from '../../../src/store/command/text.js'
import {
  decodePosition,
  distanceBetween,
  distanceWithin,
  encodePosition,
  geohashText,
  isPosition,
  type Shape,
  searchAreas,
} from '../../../src/store/values/geo-position.js'
import { SortedSet } from '../../../src/store/values/sorted-set-value.js'
import recorded from './geo.recorded.json' with { type: 'json' }

const places = new SortedSet()
recorded.points.forEach((point, at) => {
  places.set(`p${at}` as Bytes, encodePosition(point))
})

describe('a position', () => {
  it('has the score, the position and the geohash of redis-server', () => {
    for (const point of recorded.points) {
      const score = encodePosition(point)
      expect(score).toBe(point.score)
      const position = decodePosition(score)
      expect([formatCoordinate(position.longitude), formatCoordinate(position.latitude)]).toEqual(point.position)
      expect(geohashText(position)).toBe(point.hash)
    }
  })

  it('is within the limits of web maps', () => {
    expect(isPosition({ longitude: 180, latitude: 85.05112878 })).toBe(true)
    expect(isPosition({ longitude: -180.0001, latitude: 0 })).toBe(false)
    expect(isPosition({ longitude: 0, latitude: 85.06 })).toBe(false)
    expect(isPosition({ longitude: Number.NaN, latitude: 0 })).toBe(false)
  })

  it('has the distances of redis-server', () => {
    for (const { a, b, distance } of recorded.pairs) {
      const [from, to] = [a, b].map((at) => decodePosition(recorded.points[at]!.score))
      expect(formatDistance(distanceBetween(from!, to!))).toBe(distance)
    }
  })
})

describe('a geo search', () => {
  it('finds what redis-server finds, in the same order', () => {
    for (const row of recorded.searches) {
      const center = { longitude: row.longitude, latitude: row.latitude }
      const shape: Shape =
        row.radius === undefined
          ? { kind: 'box', center, width: row.width!, height: row.height! }
          : { kind: 'circle', center, radius: row.radius }
      const found: string[] = []
      for (const { min, max } of searchAreas(shape)) {
        const { from, to } = places.scoreRanks({ min, minExclusive: false, max, maxExclusive: true })
        places.walk(from, to, false, (member, score) => {
          if (distanceWithin(shape, decodePosition(score)) !== undefined) found.push(member)
        })
      }
      expect(found).toEqual(row.found)
    }
    expect(recorded.searches.filter(({ found }) => found.length > 1).length).toBeGreaterThan(60)
  })
})
