import type { JSX } from 'preact'
import { EntryPanel } from '../entry/entry-panel.js'
import type { PageState } from '../page-state.js'
import { Console } from '../panels/console-panel.js'
import { FaultsPanel } from '../panels/faults-panel.js'
import '../panels/panels.css'
import { QueuePanel } from '../panels/queue-panel.js'
import { StorePanel } from '../panels/store-panel.js'
import { TenantsPanel } from '../panels/tenants-panel.js'
import { TimePanel } from '../panels/time-panel.js'
import { CopyPanel } from './copy-panel.js'

/** A tab on the right side of the page. */
export interface Slot {
  readonly name: string
  /** Whether the tab changes the sandbox. A recording does not show such a tab. */
  readonly needsControl?: true
  readonly content: (page: PageState) => JSX.Element | null
}

/** Tabs of the page. The keys 1 to 9 open them in this order. */
const slots: readonly Slot[] = [
  { name: 'Entry', content: (page) => <EntryPanel page={page} /> },
  { name: 'Store', content: ({ view }) => <StorePanel view={view} /> },
  { name: 'Queue', content: ({ view }) => <QueuePanel view={view} /> },
  { name: 'Time', content: ({ view }) => <TimePanel view={view} /> },
  { name: 'Faults', content: ({ view }) => <FaultsPanel view={view} /> },
  { name: 'Copy', content: (page) => <CopyPanel page={page} /> },
  { name: 'Tenants', needsControl: true, content: ({ view }) => <TenantsPanel view={view} /> },
  { name: 'Console', needsControl: true, content: ({ view }) => <Console view={view} /> },
]

export function slotsOf({ view }: PageState): readonly Slot[] {
  return slots.filter(({ needsControl }) => !needsControl || view.isLive)
}
