import type { Message } from './messages.ts'
import { forget, playTests, textOf } from './tests.ts'

// The module that the playground's worker runs. The reader's code imports the package, `test` and `expect` from it.

export * from '../../../src/index.ts'
export { expect } from './expect.ts'
export { createSandbox, describe, it, test } from './tests.ts'

/** Imports of entries that work without Node.js. They are replaced with imports of this module. */
const entries =
  /(\bfrom\s*|\bimport\s*\(?\s*)(['"])(?:stuntdouble(?:\/(?:vitest|jest|matchers)(?:\/extend)?)?|vitest)\2/g
const otherImport = /\bfrom\s*['"]((?!blob:|file:|data:)[^'"]+)['"]/

/**
 * Runs code and its tests.
 * @param core URL of this module, for the imports of the code
 * @param load runs a module with this source
 */
export async function play(code: string, core: string, load: (module: string) => Promise<unknown>): Promise<Message> {
  forget()
  const module = code.replace(entries, (_whole, before: string) => `${before}'${core}'`)
  const other = otherImport.exec(module)?.[1]
  if (other !== undefined) {
    const text = `The playground cannot import ${other}: it contains only stuntdouble. Use sandbox.fetch() or queue.publish() instead of an SDK. In your project, use the SDK.`
    return { kind: 'broken', text }
  }
  try {
    await load(module)
    return { kind: 'played', tests: await playTests() }
  } catch (error) {
    return { kind: 'broken', text: textOf(error).replaceAll(core, 'stuntdouble') }
  }
}
