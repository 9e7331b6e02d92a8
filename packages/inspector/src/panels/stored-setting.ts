import { type Signal, signal } from '@preact/signals'
import type { PageView } from '../view.js'

const pages = new WeakMap<PageView, Map<string, Signal<unknown>>>()

/** Returns a signal for a panel. It keeps its value when the user opens another panel. */
export function kept<T>(view: PageView, name: string, first: T): Signal<T> {
  let known = pages.get(view)
  if (known === undefined) {
    known = new Map()
    pages.set(view, known)
  }
  let found = known.get(name)
  if (found === undefined) {
    found = signal<unknown>(first)
    known.set(name, found)
  }
  return found as Signal<T>
}
