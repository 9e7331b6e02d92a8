import { checkOptionNames } from '../../kernel/nearest-name.js'
import { type CopyFormat, copyFormatsFor as formsOf } from './copy-forms.js'
import type { CopySelection } from './selection.js'

/**
 * The forms that a selection can be copied in, for programs; the page of the inspector is smaller without the check.
 * @throws TypeError with the nearest name, for a field that a selection does not have
 * @example
 * const { entries } = sandbox.traffic.toTrace()
 * const [format] = copyFormatsFor({ entries, message: message.id })
 * format?.label
 */
export function copyFormatsFor(selection: CopySelection): readonly CopyFormat[] {
  checkOptionNames('copyFormatsFor()', selection, { entries: true, entry: true, range: true, message: true })
  return formsOf(selection)
}
