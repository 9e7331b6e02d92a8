import { checkOptionNames } from '../../kernel/nearest-name.js'
import { type CopyFormat, copyFormatsFor as formsOf } from './copy-forms.js'
import type { CopySelection } from './selection.js'

/**
 * Returns the formats in which a selection can be copied, after a check of the selection. The inspector page uses a
 * variant without this check, which is smaller.
 * @throws TypeError when the selection has an unknown field; the message suggests the nearest name
 * @example
 * const { entries } = sandbox.traffic.toTrace()
 * const [format] = copyFormatsFor({ entries, message: message.id })
 * format?.label
 */
export function copyFormatsFor(selection: CopySelection): readonly CopyFormat[] {
  checkOptionNames('copyFormatsFor()', selection, { entries: true, entry: true, range: true, message: true })
  return formsOf(selection)
}
