import { effect } from '@preact/signals'
import type { PageState } from '../page-state.js'

/** Returns the selection as a URL fragment. Browsers do not send fragments to servers. */
function fragmentOf({ view, filter }: PageState): string {
  const parameters = new URLSearchParams()
  const put = (name: string, value: string | number | undefined): void => {
    if (value !== undefined && value !== '') parameters.set(name, String(value))
  }
  if (view.isLive && view.tenant.value !== 'main') put('tenant', view.tenant.value)
  put('entry', view.selectedSeq.value)
  put('at', view.instant.value)
  put('from', view.range.value?.from)
  put('to', view.range.value?.to)
  if (view.tab.value !== 'Entry') put('tab', view.tab.value)
  put('database', view.database.value)
  put('filter', filter.words.value)
  put('entries-of', filter.database.value)
  return parameters.toString()
}

/** Selects what the fragment of a link describes. Invalid parts are ignored. */
export function applyFragment({ view, filter }: PageState, fragment: string): void {
  const parameters = new URLSearchParams(fragment)
  const number = (name: string): number | undefined => {
    const given = parameters.get(name)
    const value = Number(given ?? Number.NaN)
    return given !== '' && Math.abs(value) <= 8.64e15 ? value : undefined
  }
  view.selectedSeq.value = number('entry')
  view.instant.value = number('at')
  const [from, to] = [number('from'), number('to')]
  view.range.value = from === undefined || to === undefined || from > to ? undefined : { from, to }
  view.tab.value = parameters.get('tab') ?? 'Entry'
  view.database.value = parameters.get('database') ?? undefined
  filter.words.value = parameters.get('filter') ?? ''
  filter.database.value = parameters.get('entries-of') ?? undefined
}

/** Minimum milliseconds between two changes of the URL. Browsers limit how often a page changes it. */
const pause = 300

/** Updates the URL when the selection changes, so that the URL is always a link to the selection. */
export function keepLink(page: PageState): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let written = location.hash.slice(1)
  effect(() => {
    const fragment = fragmentOf(page)
    clearTimeout(timer)
    if (fragment === written) return
    timer = setTimeout(() => {
      written = fragment
      history.replaceState(null, '', `${location.pathname}${location.search}${fragment === '' ? '' : `#${fragment}`}`)
    }, pause)
  })
  addEventListener('hashchange', () => {
    const fragment = location.hash.slice(1)
    if (fragment === written) return
    written = fragment
    applyFragment(page, fragment)
  })
}
