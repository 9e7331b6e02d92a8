import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { shownKey } from '../models/key-tree.js'
import { idOf } from '../models/store-model.js'
import { AsOf } from './as-of-panel.js'
import { DatabaseChoice } from './database-choice.js'
import { KeyTree } from './key-tree-panel.js'
import { KeyValue } from './key-value.js'
import { modelsOf } from './models-of.js'
import { NewKey } from './new-key.js'
import type { PanelProps } from './panel-view.js'
import { storeControl } from './run-command.js'
import { StoreDifference } from './store-difference.js'
import { kept } from './stored-setting.js'

/** Shows the store at the current instant: a tree of keys, the selected value with an editor, and its changes. */
export function StorePanel({ view }: PanelProps): JSX.Element {
  const { store, database, point, isPresent } = modelsOf(view)
  const chosen = kept<string | undefined>(view, 'key', undefined)
  const wanted = kept(view, 'search for keys', '')
  const { model } = store.value
  // If only the clock moves, nothing changes except which keys have expired.
  const state = useMemo(() => model.at(point.value), [model, model.size, point.value])
  const key = chosen.value === undefined ? undefined : state.get(chosen.value)
  const { control: sandbox } = view.source
  const control = isPresent.value && sandbox !== undefined ? storeControl(sandbox, database.value) : undefined
  const size = useMemo(() => [...state].length, [state])
  const isUntold =
    sandbox === undefined && model.size === 0 && view.entries.value.some(({ type }) => type === 'keyspace')
  return (
    <section class="pn" aria-label="Store">
      <header class="pn-head">
        <DatabaseChoice view={view} />
        <label>
          Find <input type="search" value={wanted} onInput={(event) => (wanted.value = event.currentTarget.value)} />
        </label>
        <span role="status">
          {size} {size === 1 ? 'key' : 'keys'}
        </span>
        <AsOf view={view} />
        {control && <NewKey control={control} onMade={(name) => (chosen.value = idOf(name))} />}
      </header>
      <div class="pn-split">
        <nav aria-label="Keys">
          <KeyTree view={view} state={state} wanted={wanted.value} chosen={chosen} now={point.value.at} />
          {size === 0 && (
            <p class="pn-none">
              {isUntold
                ? 'This trace contains the commands, but not the values of the keys. A trace from GET /traffic/trace or from a reporter contains both.'
                : `The store is empty${isPresent.value ? '' : ' at this instant'}.`}
            </p>
          )}
        </nav>
        <div>
          {key !== undefined ? (
            <KeyValue key={`${database.value} ${chosen.value}`} view={view} value={key} control={control} />
          ) : (
            <p class="pn-none">
              {chosen.value === undefined
                ? 'Select a key to see its value.'
                : `${shownKey(keyOfId(chosen.value))} does not exist at this instant.`}
            </p>
          )}
          <StoreDifference view={view} onChoose={(name) => (chosen.value = idOf(name))} />
        </div>
      </div>
    </section>
  )
}

function keyOfId(id: string): string | { readonly base64: string } {
  return id.startsWith('b') ? { base64: id.slice(1) } : id.slice(1)
}
