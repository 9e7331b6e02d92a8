import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compareReplies } from '../support/compare-replies.js'
import { type LiveRedis, record, startRedis } from '../support/live-redis.js'
import { readRecording } from '../support/recording.js'
import { decodeReply } from '../support/resp.js'
import { type Section, showReply } from '../support/steps.js'
import { replaySection } from '../support/transcript.js'

/**
 * Runs the transcripts of command groups on a real redis-server, and compares its replies with the recording and the
 * double.
 */
export function compareTranscripts(groups: readonly string[]): void {
  let redis: LiveRedis

  beforeAll(async () => {
    redis = await startRedis()
  })

  afterAll(async () => {
    await redis.stop()
  })

  describe.each(groups)('%s', (group) => {
    // A live server on a busy machine may be late by more than is allowed; real differences occur again.
    it('has the recorded replies on the live server, and the same in the double', { retry: 2 }, async () => {
      const { steps } = (await import(`../store/${group}.steps.ts`)) as { steps: readonly Section[] }
      const live = await record(redis.client, steps)
      const recorded = readRecording(group)
      const differences: string[] = []
      for (const section of steps.filter(({ source }) => source === undefined)) {
        const commands = section.steps.filter(({ advance }) => advance === undefined)
        commands.forEach((step, at) => {
          const now = decodeReply(live[section.title]![at]![1])
          const then = decodeReply(recorded[section.title]![at]![1])
          if (compareReplies(then, now, step.loose)) differences.push(`${step.text}: ${showReply(now)}`)
        })
        differences.push(...replaySection(section, live))
      }
      expect(differences).toEqual([])
    })
  })
}
