import type { JSX } from 'preact'
import { databaseNames } from '../models/shown-databases.js'
import { modelsOf } from './models-of.js'
import type { PanelProps } from './panel-view.js'

/** Field that selects a database of the data store. It is absent if the sandbox has only one. */
export function DatabaseChoice({ view }: PanelProps): JSX.Element | null {
  const names = databaseNames(view.facts.value?.addresses)
  if (names.length === 0) return null
  return (
    <label>
      Database{' '}
      <select
        value={modelsOf(view).database.value ?? ''}
        onChange={({ currentTarget: { value } }) => {
          view.database.value = value === '' ? undefined : value
        }}
      >
        <option value="">the first one</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
