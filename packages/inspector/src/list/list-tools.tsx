import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import { type EntryGroup, groups, isEcho, kindOf } from '../entry-kinds.js'
import { databaseNames, firstDatabase } from '../models/shown-databases.js'
import type { PageView } from '../view.js'
import type { ListFilter } from './list-rows.js'

interface ListToolsProps {
  readonly view: PageView
  readonly filter: ListFilter
}

/** Input fields that filter the list by text and by kinds of entries. */
export function ListTools({ view, filter }: ListToolsProps): JSX.Element {
  const counts = useComputed(() => {
    const found = new Map<EntryGroup, number>()
    let echoes = 0
    for (const entry of view.entries.value) {
      const { group } = kindOf(entry)
      if (isEcho(entry)) echoes++
      else found.set(group, (found.get(group) ?? 0) + 1)
    }
    return { found, echoes }
  })
  const { found, echoes } = counts.value
  const wanted = filter.groups.value
  const databases = databaseNames(view.facts.value?.addresses)
  const isNarrow = wanted.size < groups.length || filter.words.value !== '' || filter.database.value !== undefined
  return (
    <div class="tools">
      <label>
        Filter{' '}
        <input
          type="search"
          id="search"
          autocomplete="off"
          spellcheck={false}
          value={filter.words.value}
          onInput={({ currentTarget }) => {
            filter.words.value = currentTarget.value
          }}
        />
      </label>
      {databases.length > 0 && (
        <label>
          Entries of{' '}
          <select
            value={filter.database.value ?? ''}
            onChange={({ currentTarget: { value } }) => {
              filter.database.value = value === '' ? undefined : value
            }}
          >
            <option value="">all databases</option>
            <option value={firstDatabase}>the first database</option>
            {databases.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <fieldset class="groups">
        <legend class="unseen">Kinds of entries</legend>
        {groups
          .filter((group) => found.has(group))
          .map((group) => (
            <label key={group}>
              <input
                type="checkbox"
                checked={wanted.has(group)}
                onChange={() => {
                  filter.groups.value = toggled(wanted, group)
                }}
              />{' '}
              {group} <small>{found.get(group)}</small>
            </label>
          ))}
        {echoes > 0 && (
          <label title="Key events that repeat their command">
            <input
              type="checkbox"
              checked={filter.echoes.value}
              onChange={({ currentTarget }) => {
                filter.echoes.value = currentTarget.checked
              }}
            />{' '}
            Repeating key events <small>{echoes}</small>
          </label>
        )}
      </fieldset>
      {isNarrow && (
        <button type="button" onClick={() => filter.clear()}>
          Show all
        </button>
      )}
    </div>
  )
}

function toggled(groups: ReadonlySet<EntryGroup>, group: EntryGroup): ReadonlySet<EntryGroup> {
  const changed = new Set(groups)
  if (!changed.delete(group)) changed.add(group)
  return changed
}
