import { resolve } from 'node:path'
import type { Reporter, TestCase, Vitest } from 'vitest/node'
import { defaultDirectory, type FailedTest, firstLine, type ReporterOptions, RunOrder, writePages } from './pages.js'

export type { ReporterOptions } from './pages.js'

interface Story {
  readonly test: TestCase
  readonly told: FailedTest
}

function withError({ test, told }: Story): FailedTest {
  const [error] = test.result().errors ?? []
  const place = error?.stacks?.find(({ file }) => file === test.module.moduleId)
  return {
    ...told,
    line: place?.line ?? test.location?.line,
    error: firstLine(error?.message),
    message: error?.message,
  }
}

/**
 * Collects the traces of failed tests into HTML pages with an index.
 * @example export default defineConfig({ test: { reporters: ['default', 'stuntdouble/vitest/reporter'] } })
 */
export default class StoryReporter implements Reporter {
  readonly #options: ReporterOptions
  readonly #stories = new Map<string, Story>()
  #order = new RunOrder()
  #vitest: Vitest | undefined

  constructor(options: ReporterOptions = {}) {
    this.#options = options
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(): void {
    this.#stories.clear()
    this.#order = new RunOrder()
  }

  onTestCaseReady(test: TestCase): void {
    this.#order.began(test.id, test.module.id)
  }

  onTestCaseArtifactRecord(test: TestCase, artifact: { readonly type: string; readonly attachments?: unknown }): void {
    if (artifact.type !== 'stuntdouble:trace') return
    const [attachment] = artifact.attachments as readonly [{ readonly body: string }]
    const project = test.project.name
    const titles = [project, test.module.relativeModuleId, ...test.fullName.split(' > ')]
    // Of several attempts of one test the last one counts.
    this.#stories.set(test.id, { test, told: { titles, file: test.module.relativeModuleId, trace: attachment.body } })
  }

  onTestRunEnd(): void {
    const root = this.#vitest?.config.root ?? process.cwd()
    // Errors are known when a test has ended.
    const stories = this.#order.sorted(this.#stories).map(withError)
    const path = writePages(resolve(root, this.#options.outputDir ?? defaultDirectory), stories)
    if (path !== undefined) this.#vitest?.logger.log(`\n Stories of failed tests: ${path}`)
    else if (!keepsArtifacts(this.#vitest?.version)) this.#vitest?.logger.log(`\n ${noArtifacts}`)
  }
}

const noArtifacts =
  'stuntdouble/vitest/reporter needs Vitest 4.0.11 or newer, in which a test hands artifacts to reporters: no pages are written. The error of a failed test has its story.'

/** Since 4.0.11. */
function keepsArtifacts(version = '5.0.0'): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return major > 4 || (major === 4 && (minor > 0 || patch >= 11))
}
