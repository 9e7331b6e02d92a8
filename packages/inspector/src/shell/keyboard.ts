import { moveSelection } from '../list/entry-list.js'
import type { PageState } from '../page-state.js'
import { slotsOf } from './slots.js'

interface Key {
  /** Values of `KeyboardEvent.key`. */
  readonly keys: readonly string[]
  /** Name of the keys in the list of shortcuts. */
  readonly shown: string
  readonly what: string
  run(page: PageState, key: string): void
}

const pageOfLines = 20

function look(page: PageState, change: 'from' | 'to'): void {
  const { view } = page
  const at = view.entry(view.selectedSeq.value)?.at ?? view.instant.value
  if (at === undefined) return
  const { first, last } = page.axis.scale.value
  const { from, to } = view.range.value ?? { from: first, to: last }
  view.range.value = change === 'from' ? { from: at, to: Math.max(at, to) } : { from: Math.min(from, at), to: at }
}

/** All keyboard shortcuts of the page, with their actions and descriptions. */
export const keys: readonly Key[] = [
  {
    keys: ['j', 'ArrowDown'],
    shown: 'j or ↓',
    what: 'next entry',
    run: ({ view, rows }) => moveSelection(view, rows.value, 1),
  },
  {
    keys: ['k', 'ArrowUp'],
    shown: 'k or ↑',
    what: 'previous entry',
    run: ({ view, rows }) => moveSelection(view, rows.value, -1),
  },
  {
    keys: ['PageDown'],
    shown: 'Page ↓',
    what: '20 lines forward',
    run: ({ view, rows }) => moveSelection(view, rows.value, pageOfLines),
  },
  {
    keys: ['PageUp'],
    shown: 'Page ↑',
    what: '20 lines back',
    run: ({ view, rows }) => moveSelection(view, rows.value, -pageOfLines),
  },
  {
    keys: ['Home'],
    shown: 'Home',
    what: 'first entry',
    run: ({ view, rows }) => moveSelection(view, rows.value, -1e9),
  },
  { keys: ['End'], shown: 'End', what: 'last entry', run: ({ view, rows }) => moveSelection(view, rows.value, 1e9) },
  {
    keys: ['Enter'],
    shown: 'Enter',
    what: 'go to the details of the entry',
    run: () => document.getElementById('detail')?.focus(),
  },
  {
    keys: ['c'],
    shown: 'c',
    what: 'go to the cause of the entry',
    run: (page) => {
      const cause = page.view.entry(page.view.selectedSeq.value)?.cause
      if (cause !== undefined) page.select(cause)
    },
  },
  {
    keys: ['t'],
    shown: 't',
    what: 'show the sandbox at the instant of the entry',
    run: ({ view }) => {
      const at = view.entry(view.selectedSeq.value)?.at
      if (at !== undefined) view.instant.value = at
    },
  },
  {
    keys: ['n'],
    shown: 'n',
    what: 'show the sandbox as it is now',
    run: ({ view }) => {
      view.instant.value = undefined
    },
  },
  {
    keys: ['s'],
    shown: 's',
    what: 'go to the scrubber, in which arrow keys move the instant',
    run: () => document.querySelector<HTMLElement>('.scrubber')?.focus(),
  },
  { keys: ['['], shown: '[', what: 'the range begins at the entry', run: (page) => look(page, 'from') },
  { keys: [']'], shown: ']', what: 'the range ends at the entry', run: (page) => look(page, 'to') },
  { keys: ['+', '='], shown: '+', what: 'zoom in', run: ({ axis }) => axis.zoom(0.5) },
  { keys: ['-'], shown: '-', what: 'zoom out', run: ({ axis }) => axis.zoom(2) },
  {
    keys: ['h', 'ArrowLeft'],
    shown: 'h or ←',
    what: 'earlier part of the time axis',
    run: ({ axis }) => axis.pan(-0.25),
  },
  {
    keys: ['l', 'ArrowRight'],
    shown: 'l or →',
    what: 'later part of the time axis',
    run: ({ axis }) => axis.pan(0.25),
  },
  { keys: ['0'], shown: '0', what: 'show the whole time axis', run: ({ axis }) => axis.fit() },
  { keys: ['/'], shown: '/', what: 'filter', run: () => document.getElementById('search')?.focus() },
  {
    keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9'],
    shown: '1 to 9',
    what: 'open a panel',
    run: (page, key) => {
      const slot = slotsOf(page)[Number(key) - 1]
      if (slot !== undefined) page.view.tab.value = slot.name
    },
  },
  {
    keys: ['Escape'],
    shown: 'Esc',
    what: 'go to the list; in the list: clear filter and range',
    run: ({ view, filter }) => {
      const list = document.getElementById('list')
      if (document.activeElement !== list) list?.focus()
      else {
        filter.clear()
        view.range.value = undefined
      }
    },
  },
  {
    keys: ['?'],
    shown: '?',
    what: 'show or hide this list of keys',
    run: ({ isHelpOpen }) => {
      isHelpOpen.value = !isHelpOpen.value
    },
  },
]

/**
 * Listens to the keyboard. Ignores keys that the focused field or button uses itself.
 * @returns a function that stops listening
 */
export function listenToKeys(page: PageState): () => void {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || page.isHelpOpen.value) return
    const target = event.target as HTMLElement
    if (needsKeys(target) && event.key !== 'Escape') return
    // In a focused element, arrow keys keep their usual function. Shortcuts use them only in the page itself and in the
    // list.
    const isBroad = target === document.body || target.id === 'list'
    if (!isBroad && (event.key.length > 1 || event.key === ' ') && event.key !== 'Escape') return
    const key = keys.find(({ keys: names }) => names.includes(event.key))
    if (key === undefined) return
    event.preventDefault()
    key.run(page, event.key)
  }
  addEventListener('keydown', onKeyDown)
  return () => removeEventListener('keydown', onKeyDown)
}

function needsKeys(element: HTMLElement): boolean {
  if (element.isContentEditable || element.shadowRoot !== null) return true
  if (element instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(element.type)
  return element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement
}
