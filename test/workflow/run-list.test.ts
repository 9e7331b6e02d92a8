import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Bytes, fromArray, toHex } from '../../src/kernel/bytes.js'
import type { Message } from '../../src/queue/message/message.js'
import type { PublishSettings } from '../../src/queue/settings/message-settings.js'
import type { RunEntry } from '../../src/workflow/run-list.js'
import type { StepBody } from '../../src/workflow/step.js'
import { WorkflowRunState } from '../../src/workflow/workflow-run.js'

const settings = { settings: {} as PublishSettings, applies: false }

function newRun(): WorkflowRunState {
  return new WorkflowRunState('wfr_1', 1, 0, 'https://app.test/', new Set(), settings, '127.0.0.1', 'eu')
}

function entry(id: number, body: Bytes, callType: RunEntry['callType'] = 'step'): RunEntry {
  return { message: { id: `msg_${id}`, body } as Message, callType }
}

const body = fc.uint8Array({ maxLength: 100 }).map(fromArray)
const act = fc.oneof(
  fc.record({ does: fc.constant('add' as const), body }),
  fc.record({ does: fc.constant('first' as const), body }),
  fc.record({ does: fc.constant('ask' as const), place: fc.nat({ max: 40 }) }),
  fc.constant({ does: 'rest' as const }),
)

test('the list up to an entry equals its JSON, and its hash that of the text, in any order of queries', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const run = newRun()
      const told = [{ messageId: 'msg_0', body: '', callType: 'step' }]
      run.entries.push(entry(0, '' as Bytes))
      let id = 0
      for (const one of acts) {
        if (one.does === 'add' || one.does === 'first') {
          const at = one.does === 'first' ? 0 : told.length
          run.entries[at] = entry(++id, one.body)
          told[at] = {
            messageId: `msg_${id}`,
            body: Buffer.from(one.body, 'latin1').toString('base64'),
            callType: 'step',
          }
        } else if (one.does === 'rest') run.rest()
        else {
          const place = one.place % told.length
          const list = run.list(place)
          const text = JSON.stringify(told.slice(0, place + 1))
          expect(list.text).toBe(text)
          expect(toHex(list.hash)).toBe(createHash('sha256').update(text).digest('hex'))
          expect(run.listUpTo(place)).toBe(text)
        }
      }
    }),
  )
})

test('steps are found by text and by ID, in small and large runs, before and after rest()', () => {
  const known = fc.record({ text: fc.nat({ max: 30 }), stepId: fc.nat({ max: 30 }) })
  fc.assert(
    fc.property(fc.array(known, { maxLength: 60 }), fc.array(fc.nat({ max: 60 }), { maxLength: 5 }), (steps, rests) => {
      const run = newRun()
      run.entries.push(entry(0, '0' as Bytes))
      const texts = new Map<number, string>()
      for (const [at, { text, stepId }] of steps.entries()) {
        if (rests.includes(at)) run.rest()
        expect(run.submittedBefore(String(text) as Bytes)?.id).toBe(texts.get(text))
        run.entries.push(entry(at + 1, String(text) as Bytes))
        if (!texts.has(text)) texts.set(text, `msg_${at + 1}`)
        const step: StepBody = { stepId, stepName: String(at), stepType: 'Run', concurrent: 1 }
        const first = steps.findIndex((one) => one.stepId === stepId)
        expect(run.record(step, 0).stepName).toBe(String(first))
      }
    }),
  )
})
