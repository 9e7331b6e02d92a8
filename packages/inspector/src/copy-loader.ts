import type * as forms from '../../../src/report/copy/copy-forms.js'
import { loaded } from './editor-loader.js'

type Forms = typeof forms

/**
 * The build replaces `report/copy/copy-forms.ts` with this module. The module is thenable, so that `import()` waits:
 * a recording has the forms in a separate script, and a server sends them with the editor.
 */
export function then(resolve: (forms: Forms) => void, reject: (error: unknown) => void): void {
  const { stuntdoubleCopy } = globalThis as { stuntdoubleCopy?: Forms }
  if (stuntdoubleCopy !== undefined) resolve({ ...stuntdoubleCopy })
  else loaded().then((script) => resolve(script as unknown as Forms), reject)
}
