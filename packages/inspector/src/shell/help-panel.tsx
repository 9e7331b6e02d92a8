import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { PageState } from '../page-state.js'
import { keys } from './keyboard.js'

export function Help({ page }: { readonly page: PageState }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOpen = page.isHelpOpen.value
  useEffect(() => {
    const { current } = dialog
    if (isOpen && current !== null && !current.open) current.showModal()
    if (!isOpen) current?.close()
  }, [isOpen])
  const close = (): void => {
    page.isHelpOpen.value = false
  }
  return (
    <dialog
      ref={dialog}
      aria-labelledby="keys-title"
      onClose={close}
      onKeyDown={(event) => {
        if (event.key === '?') close()
      }}
    >
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {keys.map(({ shown, what }) => (
          <div key={shown}>
            <dt>
              <kbd>{shown}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        With a pointer: a click in a lane selects an entry, dragging in a lane selects a range, dragging above the lanes
        moves the instant. Ctrl and the wheel zoom the time axis, Shift and the wheel scroll it.
      </p>
      <button type="button" onClick={close}>
        Close
      </button>
    </dialog>
  )
}
