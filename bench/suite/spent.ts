import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll } from 'vitest'

/** Records the processor time of the tests in the calling file in microseconds, without the start and the imports. */
export function noteTime(): void {
  let start = process.cpuUsage()
  beforeAll(() => {
    start = process.cpuUsage()
  })
  afterAll(() => {
    const { user, system } = process.cpuUsage(start)
    writeFileSync(process.env.SPENT!, String(user + system))
  })
}
