// Reads the failing tests of a page and the outputs that it shows below them. Node runs this file with type stripping,
// so its syntax is erasable.
import { headOf, importFrom, type Runner } from './runners.ts'

/** A test that must fail, and the output that the page shows for it. */
export interface Example {
  /** The name in its `test('…')`. */
  readonly title: string
  readonly code: string
  readonly shown: string
  /** Start of the shown text in the page. */
  readonly from: number
  readonly to: number
}

export interface FailurePage {
  /** Code that all tests share. */
  readonly shared: string
  readonly examples: readonly Example[]
}

const block = /^```ts (shop|fails)\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```\n)?/gm

/**
 * Reads a page. A block `ts shop` belongs to every test, each block `ts fails` is one test, and the block `text` below
 * it is its output.
 */
export function readPage(page: string): FailurePage {
  const examples: Example[] = []
  let shared = ''
  for (const match of page.matchAll(block)) {
    const [whole, kind, code = '', shown] = match
    if (kind === 'shop') shared += code
    else {
      const title = /^test\('([^']+)'/.exec(code)?.[1]
      if (title === undefined) throw new Error(`A block that fails is no test:\n${code}`)
      if (shown === undefined) throw new Error(`Nothing is shown below the test '${title}'.`)
      const to = match.index + whole.length - '```\n'.length
      examples.push({ title, code, shown, from: to - shown.length, to })
    }
  }
  return { shared, examples }
}

/** Returns the tests of a page as one program for a runner. */
export function programOf({ shared, examples }: FailurePage, runner: Runner): string {
  const head = headOf(runner, ['createSandbox']) + importFrom(runner, 'stuntdouble/checks', ['exploreInterleavings'])
  return [head, shared, ...examples.map(({ code }) => code)].join('\n')
}

/** Returns the page with the real outputs of its tests. */
export function withOutputs(page: string, outputs: ReadonlyMap<string, string>): string {
  let written = page
  for (const { title, from, to } of readPage(page).examples.toReversed()) {
    const output = outputs.get(title)
    if (output === undefined) throw new Error(`There is no output of the test '${title}'.`)
    written = `${written.slice(0, from)}${output}\n${written.slice(to)}`
  }
  return written
}
