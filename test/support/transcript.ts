import { describe, expect, it } from 'vitest'
import { compareReplies } from './compare-replies.js'
import { asService } from './deviations.js'
import { createEngine } from './engine.js'
import { type Recording, readRecording } from './recording.js'
import { decodeReply, type RespReply } from './resp.js'
import { type Section, type Step, showReply, wordsAt } from './steps.js'

/** Declares one test per section: the store must reply to each step like the recording or the step's expectation. */
export function replay(group: string, sections: readonly Section[]): void {
  const recording = readRecording(group)
  describe(`transcript ${group}`, () => {
    it.each(sections.map((section) => [section.title, section] as const))('%s', (_, section) => {
      expect(replaySection(section, recording)).toEqual([])
    })
  })
}

/** Returns the steps with another reply, each as a few lines of text. */
export function replaySection(section: Section, recording: Recording): string[] {
  const engine = createEngine()
  const rows = (recording[section.title] ?? []).values()
  const differences: string[] = []
  for (const step of section.steps) {
    if (step.advance !== undefined) {
      engine.advance(step.advance)
      continue
    }
    const expected = expectedReply(step, section.source === undefined ? rows.next().value : undefined, section.title)
    const reply = decodeReply(engine.execute(wordsAt(step, engine.now())))
    const difference = compareReplies(expected, reply, step.loose)
    if (difference) differences.push(`${step.text}\n  expected ${showReply(expected)}\n  got      ${showReply(reply)}`)
  }
  return differences
}

function expectedReply(step: Step, row: readonly [string, string] | undefined, title: string): RespReply {
  if (row !== undefined && row[0] !== step.text) {
    throw new Error(`the recording of "${title}" has ${row[0]} where the steps have ${step.text}: record again`)
  }
  if (step.ours) return step.ours.reply
  if (row === undefined) throw new Error(`"${title}" has no recorded reply to ${step.text}: record again`)
  return asService(decodeReply(row[1]), step.argv)
}
