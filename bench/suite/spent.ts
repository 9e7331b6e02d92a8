import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll } from 'vitest'

/** Notes the processor time that the tests of the calling file take, in microseconds: not the start, not the imports. */
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
