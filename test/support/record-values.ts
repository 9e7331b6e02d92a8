/**
 * Records the replies of a real redis-server with which test/store/values compares:
 * `REDIS_PORT=6379 node --import ./test/support/typescript-sources.mjs test/support/record-values.ts`.
 * The server is flushed.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createRandom } from '../../src/kernel/random.js'
import { RespClient, type RespReply } from './resp.js'

const client = await RespClient.connect(Number(process.env.REDIS_PORT ?? 6379))
const write = (name: string, value: unknown) =>
  writeFileSync(
    new URL(`../store/values/${name}.recorded.json`, import.meta.url),
    `${JSON.stringify(value).replaceAll('},', '},\n')}\n`,
  )
const random = createRandom('recorded places')
const between = (low: number, high: number) => Number((low + random.float() * (high - low)).toFixed(6))
const texts = (reply: RespReply): string[] =>
  'array' in reply ? reply.array.flatMap(texts) : 'bulk' in reply ? [reply.bulk] : []

async function counters(): Promise<unknown[]> {
  const rows: unknown[] = []
  for (const [prefix, sizes] of [
    ['e', [1, 2, 10, 100, 500, 900, 1500, 5000, 40_000]],
    ['\xff\x00 ', [7, 300, 2500]],
    ['a longer element with more than one word of eight bytes ', [1, 64, 1024]],
  ] as const) {
    for (const size of sizes) {
      await client.send(['FLUSHALL'])
      await client.send(['PFADD', 'h'])
      for (let from = 0; from < size; from += 100) {
        const elements = Array.from({ length: Math.min(100, size - from) }, (_, at) => `${prefix}${from + at}`)
        await client.send(['PFADD', 'h', ...elements])
      }
      const [bytes = ''] = texts(await client.send(['GET', 'h']))
      const count = await client.send(['PFCOUNT', 'h'])
      const sha1 = createHash('sha1').update(Buffer.from(bytes, 'latin1')).digest('hex')
      rows.push({ prefix, size, length: bytes.length, sha1, count: 'integer' in count ? Number(count.integer) : null })
    }
  }
  return rows
}

async function places(): Promise<unknown> {
  await client.send(['FLUSHALL'])
  const points: unknown[] = []
  const pairs: unknown[] = []
  const corners = [
    [180, 85.05112878],
    [-180, -85.05112878],
    [0, 0],
    [13.361389, 38.115556],
    [15.087269, 37.502669],
  ]
  const anywhere = Array.from({ length: 50 }, () => [between(-180, 180), between(-85, 85)])
  const nearby = Array.from({ length: 50 }, () => [between(2.2, 2.5), between(48.7, 49)])
  for (const [longitude, latitude] of [...corners, ...anywhere, ...nearby]) {
    const member = `p${points.length}`
    await client.send(['GEOADD', 'g', String(longitude), String(latitude), member])
    const [score] = texts(await client.send(['ZSCORE', 'g', member]))
    const [hash] = texts(await client.send(['GEOHASH', 'g', member]))
    const position = texts(await client.send(['GEOPOS', 'g', member]))
    points.push({ longitude, latitude, score: Number(score), hash, position })
  }
  for (let count = 0; count < 60; count++) {
    const [a, b] = [random.int(points.length), random.int(points.length)]
    pairs.push({ a, b, distance: texts(await client.send(['GEODIST', 'g', `p${a}`, `p${b}`]))[0] })
  }
  return { points, pairs, searches: await searches() }
}

async function searches(): Promise<unknown[]> {
  const rows: unknown[] = []
  const centers = [
    ...Array.from({ length: 20 }, () => [between(-180, 180), between(-85, 85)]),
    ...Array.from({ length: 20 }, () => [between(2.2, 2.5), between(48.7, 49)]),
    [180, 0],
    [-180, 85.05112878],
  ]
  for (const [longitude, latitude] of centers) {
    for (const size of [between(100, 9000), between(10_000, 900_000), between(1_000_000, 30_000_000)]) {
      const circle = random.chance(1, 2)
      const height = circle ? size : between(100, size + 200)
      const by = circle ? ['BYRADIUS', String(size)] : ['BYBOX', String(size), String(height)]
      const argv = ['GEOSEARCH', 'g', 'FROMLONLAT', String(longitude), String(latitude), ...by, 'm']
      rows.push({
        longitude,
        latitude,
        ...(circle ? { radius: size } : { width: size, height }),
        found: texts(await client.send(argv)),
      })
    }
  }
  return rows
}

write('hyperloglog', await counters())
write('geo', await places())
client.close()
