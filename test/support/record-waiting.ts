/**
 * Writes test/transcripts/waiting.json: random programs of several connections, of which some wait, and who got what from a
 * real redis-server 7.0: `node --import ./test/support/typescript-sources.mjs test/support/record-waiting.ts`.
 */
import { writeFileSync } from 'node:fs'
import { LiveConnections } from '../store/blocking/live-programs.js'
import { wordings } from '../store/blocking/programs.js'
import { startRedis } from './live-redis.js'

const redis = await startRedis()
const live = await LiveConnections.open(redis.port)
try {
  const programs: string[] = []
  for (let number = 0; number <= 24; number++) {
    const rows =
      number === 0
        ? await live.run(wordings.length, (at) => wordings[at]!)
        : await live.record(`recorded ${number}`, 60)
    programs.push(`  [\n${rows.map((row) => `    ${JSON.stringify(row)}`).join(',\n')}\n  ]`)
  }
  const file = new URL('../transcripts/waiting.json', import.meta.url)
  writeFileSync(file, `[\n${programs.join(',\n')}\n]\n`)
} finally {
  live.close()
  await redis.stop()
}
