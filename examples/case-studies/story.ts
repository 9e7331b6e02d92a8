import { test as base, type FixtureOptions, type SandboxFixtures } from 'stuntdouble/vitest'
import { afterAll, test as check, describe, expect, vi } from 'vitest'

// The frame around the stories: each test is run against an app as it was, where it must fail, and as it was mended.
// What it prints when it fails is kept beside the app, for docs/case-studies.md.

/** `test` of `stuntdouble/vitest`, as far as the stories use it. */
export type StoryTest = (title: string, body: (fixtures: SandboxFixtures) => Promise<void>) => void

export interface Story<App> {
  readonly asItWas: App
  readonly mended: App
  /** What the failure has to say above its timeline. */
  readonly cause: RegExp
  /** Options of the fixture, for both, or for each of them. */
  readonly options?: FixtureOptions | { readonly asItWas: FixtureOptions; readonly mended: FixtureOptions }
}

/** More is not read at two in the morning. */
const maxLines = 15

/**
 * Runs the test of a story against both apps.
 * @param name of the folder with the apps, in which the failure is kept as `failure.txt`
 * @example story('late-answer', { asItWas, mended, cause: /came too late/ }, (test, app) => { test('…', async ({ sandbox }) => { … }) })
 */
export function story<App>(
  name: string,
  { asItWas, mended, cause, options = {} }: Story<App>,
  write: (test: StoryTest, app: App) => void,
): void {
  const each = 'asItWas' in options ? options : { asItWas: options, mended: options }
  describe(`${name}, as it was`, () => {
    const test = testWith(each.asItWas)
    const told: string[] = []
    test.beforeEach(({ task, onTestFailed }) => {
      // What is printed must not depend on the day; the fixture's own option would move along.
      if (each.asItWas.timers === undefined) vi.setSystemTime('2026-11-22T12:00:00Z')
      // Registered before those of the fixture, so it is called after them.
      onTestFailed(() => void told.push(...(task.result?.errors ?? []).map(({ message }) => asPrinted(message))))
    })
    // Not before the failure is told, which comes after the hooks of the test.
    afterAll(() => void vi.useRealTimers())
    write(test.fails as StoryTest, asItWas)
    check('the failure names the cause', async () => {
      expect(told).toHaveLength(1)
      const [text] = told as [string]
      const above = aboveTimeline(text)
      expect(above).toMatch(cause)
      expect(above.split('\n').length, above).toBeLessThanOrEqual(maxLines)
      // When the text has changed for the better: npm run docs -- stories
      await expect(`${text}\n`).toMatchFileSnapshot(`./${name}/failure.txt`)
    })
  })
  describe(`${name}, as it was mended`, () => write(testWith(each.mended) as StoryTest, mended))
}

function testWith(options: FixtureOptions): typeof base {
  const common: FixtureOptions = { seed: 7, startAt: '2030-01-01T09:00:00Z' }
  return base.override('sandboxOptions', { ...common, ...options })
}

const root = new URL('../..', import.meta.url)

/** Without colors, and with paths as they are in the repository. */
function asPrinted(message: string): string {
  return (
    message
      .replace(/\x1b\[[\d;]*m/g, '')
      .replaceAll(root.href, '')
      .replaceAll(root.pathname, '')
      // Of vitest.config.ts here; a user has one project or none.
      .replace(/ --project=\S+/, '')
  )
}

/** The timeline begins with its first day. */
function aboveTimeline(text: string): string {
  return text.split(/\n(?=\d{4}-\d\d-\d\d\n)/)[0]!.trimEnd()
}
