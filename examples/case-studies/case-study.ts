import { test as base, type FixtureOptions, type SandboxFixtures } from 'stuntdouble/vitest'
import { afterAll, test as check, describe, expect, vi } from 'vitest'

// Runs each case study: its test must fail with the broken app and pass with the fixed app. The failure is stored next to
// the app, for docs/case-studies.md.

/** The part of `test` from `stuntdouble/vitest` that the case studies use. */
export type CaseStudyTest = (title: string, body: (fixtures: SandboxFixtures) => Promise<void>) => void

export interface CaseStudy<App> {
  readonly broken: App
  readonly fixed: App
  /** Expression that the failure must match above its timeline. */
  readonly cause: RegExp
  /** Options of the fixture, for both apps or for each of them. */
  readonly options?: FixtureOptions | { readonly broken: FixtureOptions; readonly fixed: FixtureOptions }
}

/** Maximum lines above the timeline. */
const maxLines = 15

/**
 * Runs the test of a case study with both apps.
 * @param name name of the folder with the apps, in which the failure is stored as `failure.txt`
 * @example caseStudy('late-response', { broken, fixed, cause: /after the timeout/ }, (test, app) => { test('…', async ({ sandbox }) => { … }) })
 */
export function caseStudy<App>(
  name: string,
  { broken, fixed, cause, options = {} }: CaseStudy<App>,
  write: (test: CaseStudyTest, app: App) => void,
): void {
  const each = 'broken' in options ? options : { broken: options, fixed: options }
  describe(`${name}, broken app`, () => {
    const test = testWith(each.broken)
    const messages: string[] = []
    test.beforeEach(({ task, onTestFailed }) => {
      // The output must not depend on the date. With `timers`, the fixture fakes the time itself.
      if (each.broken.timers === undefined) vi.setSystemTime('2026-11-22T12:00:00Z')
      // This hook is registered before those of the fixture, so it is called after them.
      onTestFailed(() => void messages.push(...(task.result?.errors ?? []).map(({ message }) => asPrinted(message))))
    })
    // The failure is composed after the hooks of the test, so the real time is restored later.
    afterAll(() => void vi.useRealTimers())
    write(test.fails as CaseStudyTest, broken)
    check('names the cause in its failure', async () => {
      expect(messages).toHaveLength(1)
      const [text] = messages as [string]
      const above = aboveTimeline(text)
      expect(above).toMatch(cause)
      expect(above.split('\n').length, above).toBeLessThanOrEqual(maxLines)
      // To accept a new text: npm run docs -- stories
      await expect(`${text}\n`).toMatchFileSnapshot(`./${name}/failure.txt`)
    })
  })
  describe(`${name}, fixed app`, () => write(testWith(each.fixed) as CaseStudyTest, fixed))
}

function testWith(options: FixtureOptions): typeof base {
  const common: FixtureOptions = { seed: 7, startAt: '2030-01-01T09:00:00Z' }
  return base.override('sandboxOptions', { ...common, ...options })
}

const root = new URL('../..', import.meta.url)

/** Returns a message without colors, with paths relative to the repository. */
function asPrinted(message: string): string {
  return (
    message
      .replace(/\x1b\[[\d;]*m/g, '')
      .replaceAll(root.href, '')
      .replaceAll(root.pathname, '')
      // The projects of this repository are removed, because users have one project or none.
      .replace(/ --project=\S+/, '')
  )
}

/** Returns the text above the timeline, which begins with a date. */
function aboveTimeline(text: string): string {
  return text.split(/\n(?=\d{4}-\d\d-\d\d\n)/)[0]!.trimEnd()
}
