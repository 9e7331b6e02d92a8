import type { JSX } from 'preact'
import { EntryPanel } from '../entry/entry-panel.js'
import type { PageState } from '../page-state.js'

/** A tab at the right of the page. */
export interface Slot {
  readonly name: string
  /** It commands the world: a recording has none of it. */
  readonly needsControl?: true
  readonly content: (page: PageState) => JSX.Element | null
}

export const slots: readonly Slot[] = [{ name: 'Entry', content: (page) => <EntryPanel page={page} /> }]

export function slotsOf({ view }: PageState): readonly Slot[] {
  return slots.filter(({ needsControl }) => !needsControl || view.isLive)
}
