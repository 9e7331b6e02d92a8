/**
 * Writes test/transcripts/<group>.json from test/store/<group>.steps.ts and a real redis-server 7.0:
 * `npm run record -- [group …]`. A group recorded before and
 * not named stays as it is; without names all are recorded anew.
 */
import { mkdirSync, readdirSync } from 'node:fs'
import { record, startRedis } from './live-redis.js'
import { writeRecording } from './recording.js'
import type { Section } from './steps.js'

const directory = new URL('../store/', import.meta.url)
const suffix = '.steps.ts'
const all = readdirSync(directory)
  .filter((name) => name.endsWith(suffix))
  .map((name) => name.slice(0, -suffix.length))
const wanted = process.argv.length > 2 ? process.argv.slice(2) : all

mkdirSync(new URL('../transcripts/', import.meta.url), { recursive: true })
const redis = await startRedis()
try {
  for (const group of wanted) {
    const { steps } = (await import(new URL(`${group}${suffix}`, directory).href)) as { steps: readonly Section[] }
    const recording = await record(redis.client, steps)
    writeRecording(group, recording)
    console.log(`${group}: ${Object.values(recording).flat().length} replies`)
  }
} finally {
  await redis.stop()
}
