import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { PageState } from '../page-state.js'
import { slotsOf } from './slots.js'

export function PanelTabs({ page }: { readonly page: PageState }): JSX.Element {
  const { view } = page
  const list = useRef<HTMLDivElement>(null)
  const slots = slotsOf(page)
  const at = Math.max(
    0,
    slots.findIndex(({ name }) => name === view.tab.value),
  )
  const open = slots[at]!
  const move = (event: KeyboardEvent): void => {
    const last = slots.length - 1
    const next = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[
      event.key
    ]
    if (next === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    event.stopPropagation()
    view.tab.value = slots[next]!.name
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus()
  }
  return (
    <section class="panel" aria-label="Panels">
      <div class="tabs" role="tablist" aria-label="Panels" ref={list} onKeyDown={move}>
        {slots.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={index === at}
            aria-controls="panel"
            tabIndex={index === at ? 0 : -1}
            onClick={() => {
              view.tab.value = name
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <div id="panel" class="panel-content" role="tabpanel" aria-labelledby={`tab-${open.name}`} tabIndex={0}>
        {open.content(page)}
      </div>
    </section>
  )
}
