import type { Said } from './messages.ts'
import { forget, playTests, textOf } from './tests.ts'

// The module that the playground's worker runs and that the reader's code imports: the core, `test` and `expect`.

export * from '../../../src/index.ts'
export { expect } from './expect.ts'
export { createSandbox, describe, it, test } from './tests.ts'

/** The entries of the package that a page can do without Node; all of them are this module. */
const entries =
  /(\bfrom\s*|\bimport\s*\(?\s*)(['"])(?:stuntdouble(?:\/(?:vitest|jest|matchers)(?:\/extend)?)?|vitest)\2/g
const foreign = /\bfrom\s*['"]((?!blob:|file:|data:)[^'"]+)['"]/

/**
 * Plays code.
 * @param core where this module is, for the imports of the code
 * @param load runs a module of this text
 */
export async function play(code: string, core: string, load: (module: string) => Promise<unknown>): Promise<Said> {
  forget()
  const module = code.replace(entries, (_whole, before: string) => `${before}'${core}'`)
  const other = foreign.exec(module)?.[1]
  if (other !== undefined) {
    const text = `The playground has stuntdouble and nothing else, so it cannot import ${other}. Take sandbox.fetch() or queue.publish() instead of an SDK here; in your project you use the SDK.`
    return { kind: 'broken', text }
  }
  try {
    await load(module)
    return { kind: 'played', tests: await playTests() }
  } catch (error) {
    return { kind: 'broken', text: textOf(error).replaceAll(core, 'stuntdouble') }
  }
}
