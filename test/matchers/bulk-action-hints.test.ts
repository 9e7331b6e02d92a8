import { createSandbox } from 'stuntdouble'
import { expect, test } from 'stuntdouble/vitest'
import { failureOf } from './failure.js'

const hintOf = (assertion: () => void): string | undefined => /^Hint: (.*)$/m.exec(failureOf(assertion))?.[1]

test('toHaveBulkAction() states when an action in progress ends', async () => {
  using sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z', policy: { bulkActionTime: '1m' } })
  const { clock, queue } = sandbox
  for (let nth = 0; nth < 4; nth++) queue.publish({ to: 'https://shop.test/orders', delay: '1d', label: 'spring' })
  const { id } = queue.cancelMessages({ label: 'spring' })
  await clock.advance('30s')
  const { processed } = queue.bulkActions[0]!
  const hint = `Bulk action ${id} is in progress until 09:01:00.000, with ${processed} of 4 processed. Await sandbox.clock.advance('30s') first.`
  for (const received of [sandbox, queue])
    expect(hintOf(() => expect(received).toHaveBulkAction({ state: 'FINISHED' }))).toBe(hint)
  // A log has no list of actions.
  expect(hintOf(() => expect(sandbox.traffic).toHaveBulkAction({ state: 'FINISHED' }))).toBeUndefined()

  await clock.advance('30s')
  expect(queue).toHaveBulkAction({ state: 'FINISHED' })
  expect(hintOf(() => expect(queue).toHaveBulkAction({ total: 5 }))).toBeUndefined()
})

test('toHaveBulkAction() states when an action of workflow runs ends', async () => {
  using sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z', policy: { bulkActionTime: '1h' } })
  const { id } = sandbox.workflow.cancelRuns()
  const hint = hintOf(() => expect(sandbox).toHaveBulkAction({ resource: 'runs', state: 'FINISHED' }))
  if (sandbox.workflow.bulkActions[0]!.state === 'IN_PROGRESS')
    expect(hint).toContain(`Bulk action ${id} is in progress until 10:00:00.000`)
})
