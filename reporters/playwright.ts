import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { FullConfig, Reporter, TestCase, TestResult } from '@playwright/test/reporter'
import {
  defaultDirectory,
  type FailedTest,
  firstLine,
  type ReporterOptions,
  RunOrder,
  relativeTo,
  writePages,
} from './pages.js'

export type { ReporterOptions } from './pages.js'

/**
 * Collects the traces of failed tests into HTML pages with an index.
 * @example export default defineConfig({ reporter: [['list'], ['stuntdouble/playwright/reporter']] })
 */
export default class StoryReporter implements Reporter {
  readonly #options: ReporterOptions & { readonly configDir?: string }
  readonly #stories = new Map<string, FailedTest>()
  #order = new RunOrder()
  #root = process.cwd()

  constructor(options: ReporterOptions & { readonly configDir?: string } = {}) {
    this.#options = options
  }

  onBegin(config: FullConfig): void {
    this.#root = this.#options.configDir ?? config.rootDir
  }

  onTestBegin(test: TestCase): void {
    this.#order.began(test.id, `${test.parent.project()?.name} ${test.location.file}`)
  }

  onTestEnd(test: TestCase, { attachments, errors }: TestResult): void {
    const trace = attachments.find(({ name }) => name === 'stuntdouble-trace.json')
    if (trace === undefined) return
    const text =
      trace.body?.toString('utf8') ?? (trace.path === undefined ? undefined : readFileSync(trace.path, 'utf8'))
    if (text === undefined) return
    const [, ...titles] = test.titlePath()
    // Of several attempts of one test the last one counts.
    const [error] = errors
    const isHere = error?.location?.file === test.location.file
    this.#stories.set(test.id, {
      titles,
      file: relativeTo(this.#root, test.location.file),
      line: isHere ? error?.location?.line : test.location.line,
      error: firstLine(error?.message ?? error?.value),
      message: error?.message ?? error?.value,
      trace: text,
    })
  }

  onEnd(): void {
    const directory = resolve(this.#root, this.#options.outputDir ?? defaultDirectory)
    const path = writePages(directory, this.#order.sorted(this.#stories))
    if (path !== undefined) console.log(`\n  Stories of failed tests: ${path}`)
  }

  printsToStdio(): boolean {
    return false
  }
}
