import { describe, expect, test } from 'vitest'
import { CrashPointBroken, everyCrashPoint } from '../../properties/scenarios.js'
import { appWith, calls, defects } from './crash-defects.js'

async function broken(work: Promise<unknown>): Promise<CrashPointBroken | undefined> {
  return work.then(
    () => undefined,
    (error) => {
      if (error instanceof CrashPointBroken) return error
      throw error
    },
  )
}

describe.each(defects)('$name', ({ broken: defect, mended }) => {
  test('is found', async () => {
    const found = await broken(everyCrashPoint(appWith(defect), { calls }))
    expect(found).toBeInstanceOf(CrashPointBroken)
  })

  test('is not found where it is mended', async () => {
    const found = await broken(everyCrashPoint(appWith(mended), { calls }))
    expect(found?.message).toBeUndefined()
  })
})
