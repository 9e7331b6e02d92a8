import { describe, expect, test } from 'vitest'
import { assertCrashSafe, CrashSafetyError } from '../../packages/explore/src/checks.js'
import { appWith, calls, defects } from './crash-defects.js'

async function broken(work: Promise<unknown>): Promise<CrashSafetyError | undefined> {
  return work.then(
    () => undefined,
    (error) => {
      if (error instanceof CrashSafetyError) return error
      throw error
    },
  )
}

describe.each(defects)('$name', ({ broken: defect, mended }) => {
  test('is found', async () => {
    const found = await broken(assertCrashSafe(appWith(defect), { outbound: calls }))
    expect(found).toBeInstanceOf(CrashSafetyError)
    const { message, findings } = found!
    expect(message.split('\n').length).toBeLessThanOrEqual(40)
    const [first] = [...findings].sort((a, b) => a.deliveries - b.deliveries)
    if (first === undefined) return
    // The failure precedes the timeline, and the replay instruction follows it.
    const story = message.indexOf('2030-01-01')
    expect(story).toBeGreaterThan(0)
    expect(message.indexOf(first.disturbances[0]!.description)).toBeLessThan(story)
    for (const { id } of findings.filter((one) => one !== first).slice(0, 3))
      expect(message.slice(0, story)).toContain(`\n  ${id}: `)
    expect(message.slice(story)).toContain(`only: ['${first.id}']`)
  })

  test('is not found in the fixed code', async () => {
    const found = await broken(assertCrashSafe(appWith(mended), { outbound: calls }))
    expect(found?.message).toBeUndefined()
  })
})
