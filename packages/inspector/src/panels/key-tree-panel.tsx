import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { formatDuration } from '../../../../src/kernel/duration.js'
import { levelOf } from '../models/key-tree.js'
import type { StoredState } from '../models/store-model.js'
import type { PageView } from '../view.js'
import { Most, Name } from './parts.js'
import { kept } from './stored-setting.js'

interface KeyTreeProps {
  readonly view: PageView
  readonly state: StoredState
  readonly wanted: string
  /** ID of the key whose value is shown. */
  readonly chosen: Signal<string | undefined>
  readonly now: number
  readonly beginning?: string
}

/** Shows keys as a tree with folders. The content of a folder is computed when the folder is opened. */
export function KeyTree({ view, state, wanted, chosen, now, beginning = '' }: KeyTreeProps): JSX.Element {
  const rows = useMemo(() => levelOf(state, beginning, wanted), [state, beginning, wanted])
  return (
    <Most items={rows} of="names">
      {(shown) => (
        <ul class="pn-tree">
          {shown.map(({ name, path, count, key }) =>
            key === undefined ? (
              <Folder key={`folder ${path}`} {...{ view, state, wanted, chosen, now, name, path, count }} />
            ) : (
              <li key={path}>
                <button
                  type="button"
                  class="pn-key"
                  aria-current={chosen.value === path}
                  onClick={() => (chosen.value = path)}
                >
                  <Name of={name === '' ? '(empty)' : name} /> <small>{key.type}</small>
                  {key.expiresAt !== undefined && <small> {formatDuration(Math.round(key.expiresAt - now))}</small>}
                </button>
              </li>
            ),
          )}
        </ul>
      )}
    </Most>
  )
}

interface FolderProps extends Omit<KeyTreeProps, 'beginning'> {
  readonly name: string
  readonly path: string
  readonly count: number | undefined
}

function Folder({ name, path, count = 0, ...tree }: FolderProps): JSX.Element {
  const isOpen = kept(tree.view, `folder ${path}`, false)
  // During a search, all folders are open, except those with many keys.
  const shows = isOpen.value || (tree.wanted !== '' && count < 50)
  return (
    <li>
      <details open={shows} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
        <summary>
          <Name of={`${name}:`} /> <small>{count}</small>
        </summary>
        {shows && <KeyTree {...tree} beginning={path} />}
      </details>
    </li>
  )
}
