// Reporter of Vitest for test/run.ts: writes the sum and the time of each file.
import { writeFileSync } from 'node:fs'
import type { TestModule } from 'vitest/node'

export interface TierReport {
  passed: number
  failed: number
  files: { file: string; seconds: number }[]
}

export default class TierReporter {
  readonly #report: TierReport = { passed: 0, failed: 0, files: [] }

  onTestModuleEnd(file: TestModule): void {
    for (const test of file.children.allTests()) {
      const { state } = test.result()
      if (state === 'passed' || state === 'failed') this.#report[state]++
    }
    // A file that breaks before or between its tests is a failure, too.
    if (!file.ok() && [...file.children.allTests('failed')].length === 0) this.#report.failed++
    const { collectDuration, setupDuration, duration } = file.diagnostic()
    this.#report.files.push({
      file: file.relativeModuleId,
      seconds: (collectDuration + setupDuration + duration) / 1000,
    })
  }

  onTestRunEnd(): void {
    writeFileSync(process.env.STUNTDOUBLE_TIER_REPORT!, JSON.stringify(this.#report))
  }
}
