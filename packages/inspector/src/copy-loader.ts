import type * as forms from '../../../src/report/copy/copy-forms.js'
import { loaded } from './editor-loader.js'

type Forms = typeof forms

/**
 * Replaces `report/copy/copy-forms.ts` in the built page. The copy forms are in another script: a recording contains
 * that script, and a server sends it together with the editor. The module exports `then`, so `import()` waits until the
 * script is loaded.
 */
export function then(resolve: (forms: Forms) => void, reject: (error: unknown) => void): void {
  const { stuntdoubleCopy } = globalThis as { stuntdoubleCopy?: Forms }
  if (stuntdoubleCopy !== undefined) resolve({ ...stuntdoubleCopy })
  else loaded().then((script) => resolve(script as unknown as Forms), reject)
}
