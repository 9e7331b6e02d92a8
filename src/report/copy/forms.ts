import { curlOf } from './curl.js'
import { type CopyContext, kindOf, type Selection, type SelectionKind } from './selection.js'

/** One form in which what was found can be pasted elsewhere. */
export interface CopyForm {
  /** For programs: `curl`. */
  readonly name: string
  /** For people: `curl command`. */
  readonly label: string
  /** Types of entries, `range` and `message`: the selections that it fits. */
  readonly kinds: readonly SelectionKind[]
  /** Never fails: what cannot be written is said in the text. */
  of(selection: Selection, context: CopyContext): string
}

/** Every form, for the page, the tools of agents and programs. */
export const copyForms: readonly CopyForm[] = [
  {
    name: 'curl',
    label: 'curl command',
    kinds: ['request', 'published', 'attempt', 'call', 'command'],
    of: curlOf,
  },
]

/** The forms that fit a selection. */
export function formsFor(selection: Selection): readonly CopyForm[] {
  const kind = kindOf(selection)
  return copyForms.filter(({ kinds }) => kinds.includes(kind))
}
