import { resolve } from 'node:path'
import type { Reporter, TestCase, Vitest } from 'vitest/node'
import { defaultDirectory, type FailedTest, type ReporterOptions, writePages } from './pages.js'

export type { ReporterOptions } from './pages.js'

/**
 * Collects the traces of failed tests into HTML pages with an index.
 * @example export default defineConfig({ test: { reporters: ['default', 'stuntdouble/vitest/reporter'] } })
 */
export default class StoryReporter implements Reporter {
  readonly #options: ReporterOptions
  readonly #stories = new Map<string, FailedTest>()
  #vitest: Vitest | undefined

  constructor(options: ReporterOptions = {}) {
    this.#options = options
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(): void {
    this.#stories.clear()
  }

  onTestCaseArtifactRecord(test: TestCase, artifact: { readonly type: string; readonly attachments?: unknown }): void {
    if (artifact.type !== 'stuntdouble:trace') return
    const [attachment] = artifact.attachments as readonly [{ readonly body: string }]
    const project = test.project.name
    const titles = [project, test.module.relativeModuleId, ...test.fullName.split(' > ')]
    // Of several attempts of one test the last one counts.
    this.#stories.set(test.id, { titles, file: test.module.relativeModuleId, trace: attachment.body })
  }

  onTestRunEnd(): void {
    const root = this.#vitest?.config.root ?? process.cwd()
    const path = writePages(resolve(root, this.#options.outputDir ?? defaultDirectory), [...this.#stories.values()])
    if (path !== undefined) this.#vitest?.logger.log(`\n Stories of failed tests: ${path}`)
  }
}
