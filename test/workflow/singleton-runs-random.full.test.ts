import fc from 'fast-check'
import { expect, test } from 'vitest'
import { connectedSandbox } from '../support/sandbox.js'
import { SettingsSdk } from './settings-sdk.js'
import { url } from './settings-world.js'

// Random sequences of triggers, ends and cancels against a naive model. [workflow.md 2.2]

const policies = ['free-after-end', 'never-again', 'window'] as const
const ids = fc.constantFrom('wfr_a', 'wfr_b')
const moves = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('trigger' as const), id: ids, body: fc.constantFrom('', 'x') }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('cancel' as const), id: ids }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('finish' as const), id: ids }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('wait' as const), minutes: fc.constantFrom(1, 4, 11) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('load' as const) }) },
)

interface ModelRun {
  readonly id: string
  readonly body: string
  readonly at: number
  state: string
}

/** What a trigger does, by the rules of the protocol page. */
function expectedOf(policy: (typeof policies)[number], last: ModelRun | undefined, body: string, now: number): string {
  if (last === undefined) return 'begins'
  if (policy === 'never-again') return 'duplicate'
  const isOpen = last.state === 'RUN_STARTED'
  if (policy === 'window' && body === last.body && now - last.at < 10) return 'duplicate'
  if (policy === 'free-after-end' && body === last.body && isOpen) return 'duplicate'
  return isOpen ? 'rejected' : 'begins'
}

test('triggers, ends and cancels in any order do what a naive model does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...policies), fc.array(moves, { maxLength: 25 }), async (policy, sequence) => {
      const open = () => connectedSandbox({ seed: 16, policy: { workflowSingletonRuns: policy } })
      let sandbox = open()
      const model: ModelRun[] = []
      let minute = 0
      for (const move of sequence) {
        const sdk = new SettingsSdk(sandbox)
        const last = 'id' in move ? model.findLast(({ id }) => id === move.id) : undefined
        if (move.does === 'trigger') {
          const { id, body } = move
          const expected = expectedOf(policy, last, body, minute)
          const { status, json } = await sdk.trigger(url, id, {}, body)
          expect(status === 400 ? 'rejected' : json[0].deduplicated ? 'duplicate' : 'begins').toBe(expected)
          if (expected === 'begins') model.push({ id, body, at: minute, state: 'RUN_STARTED' })
        } else if (move.does === 'cancel' || move.does === 'finish') {
          const path = `/v2/workflows/runs/${move.id}?cancel=${move.does === 'cancel'}`
          const { status } = await sdk.ask('DELETE', path, {})
          expect(status).toBe(last?.state === 'RUN_STARTED' ? 200 : 404)
          if (last?.state === 'RUN_STARTED') last.state = move.does === 'cancel' ? 'RUN_CANCELED' : 'RUN_SUCCESS'
        } else if (move.does === 'wait') {
          // No endpoint responds to deliveries, so the model alone decides about the runs.
          sandbox.destinations.respond(url, { status: 200, headers: { 'upstash-workflow-sdk-version': '1' } })
          await sandbox.clock.advance(`${move.minutes}m`)
          minute += move.minutes
        } else {
          const loaded = open()
          loaded.load(sandbox.dump())
          sandbox = loaded
        }
        expect(sandbox.workflow.runs.map(({ id, state }) => [id, state])).toEqual(
          model.map(({ id, state }) => [id, state]),
        )
        const times = sandbox.workflow.runs.map(({ id, createdAt }) => `${id} ${createdAt}`)
        expect(new Set(times).size).toBe(times.length)
      }
    }),
    { numRuns: 300 },
  )
})
