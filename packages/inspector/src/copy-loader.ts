import type * as forms from '../../../src/report/copy/copy-forms.js'
import { loaded } from './editor-loader.js'

type Forms = typeof forms

/**
 * The build puts this module in the place of `report/copy/copy-forms.ts`. It is a promise, so that `import()` of it waits: in a
 * recording the forms stand in a script of their own, a server sends them with the editor.
 */
export function then(resolve: (forms: Forms) => void, reject: (error: unknown) => void): void {
  const { stuntdoubleCopy } = globalThis as { stuntdoubleCopy?: Forms }
  if (stuntdoubleCopy !== undefined) resolve({ ...stuntdoubleCopy })
  else loaded().then((script) => resolve(script as unknown as Forms), reject)
}
