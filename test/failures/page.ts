// The failing tests of a page and the outputs that it shows below them. Erasable syntax: Node runs this file as it is.
import { headOf, importFrom, type Runner } from './runners.ts'

/** One test that must fail, and the text that the page says it prints. */
export interface Example {
  /** The name in its `test('…')`. */
  readonly title: string
  readonly code: string
  readonly shown: string
  /** Where the shown text stands in the page. */
  readonly from: number
  readonly to: number
}

export interface FailurePage {
  /** What all tests share. */
  readonly shared: string
  readonly examples: readonly Example[]
}

const block = /^```ts (shop|fails)\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```\n)?/gm

/**
 * Reads a page: what stands in a block `ts shop` belongs to every test, each block `ts fails` is one test, and the
 * block `text` below it is what the test prints.
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

/** The tests of a page as one program for a runner. */
export function programOf({ shared, examples }: FailurePage, runner: Runner): string {
  const head = headOf(runner, ['createSandbox']) + importFrom(runner, 'stuntdouble/checks', ['exploreInterleavings'])
  return [head, shared, ...examples.map(({ code }) => code)].join('\n')
}

/** The page with what the tests really print. */
export function withOutputs(page: string, outputs: ReadonlyMap<string, string>): string {
  let written = page
  for (const { title, from, to } of readPage(page).examples.toReversed()) {
    const output = outputs.get(title)
    if (output === undefined) throw new Error(`There is no output of the test '${title}'.`)
    written = `${written.slice(0, from)}${output}\n${written.slice(to)}`
  }
  return written
}
