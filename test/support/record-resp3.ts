/**
 * Writes test/transcripts/resp3.json: of which types the replies of a real redis-server 7.0 are after HELLO 3, to every
 * step of test/store/*.steps.ts: `node --import ./test/support/typescript-sources.mjs test/support/record-resp3.ts`.
 */
import { writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { resp3Sections } from '../store/resp/resp3-sections.js'
import { startRedis } from './live-redis.js'
import { skeletonOf } from './resp3.js'
import { wordsAt } from './steps.js'

const redis = await startRedis()
try {
  await redis.client.raw(['HELLO', '3'])
  const lines: string[] = []
  for (const { title, steps } of await resp3Sections()) {
    await redis.client.raw(['FLUSHALL'])
    const rows: string[] = []
    for (const step of steps) {
      if (step.advance !== undefined) await wait(step.advance)
      else rows.push(skeletonOf(await redis.client.raw(wordsAt(step, Date.now())))!.skeleton)
    }
    lines.push(`  ${JSON.stringify(title)}: ${JSON.stringify(rows)}`)
  }
  writeFileSync(new URL('../transcripts/resp3.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`)
} finally {
  await redis.stop()
}
