import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { firstOf } from '../models/edits.js'
import { Failure, useAct } from './parts.js'
import { runCommand, type StoreControl } from './run-command.js'

type KeyType = keyof typeof firstOf

const placeholders: Readonly<Partial<Record<KeyType, string>>> = {
  json: '{"a": 1}',
  search: 'prefix of the keys',
  vector: 'dimensions',
}

export function NewKey({ control, onMade }: { control: StoreControl; onMade: (key: string) => void }): JSX.Element {
  const name = useSignal('')
  const type = useSignal<KeyType>('string')
  const value = useSignal('')
  const act = useAct()
  const make = async (event: Event): Promise<void> => {
    event.preventDefault()
    const key = name.value
    const isMade = await act.run(async () => {
      if ((await runCommand(control, ['EXISTS', key])) !== 0) throw new Error(`${key} already exists: select it.`)
      await runCommand(control, firstOf[type.value](key, value.value))
    })
    if (!isMade) return
    onMade(key)
    name.value = value.value = ''
  }
  return (
    <details class="pn-new">
      <summary>New key</summary>
      <form class="pn-inline" onSubmit={(event) => void make(event)}>
        <input
          aria-label="Name of the new key"
          placeholder="name"
          required
          value={name}
          onInput={(event) => (name.value = event.currentTarget.value)}
        />
        <select
          aria-label="Type of the new key"
          value={type}
          onChange={(event) => (type.value = event.currentTarget.value as KeyType)}
        >
          {Object.keys(firstOf).map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
        <input
          aria-label="First value of the new key"
          placeholder={placeholders[type.value] ?? 'value'}
          value={value}
          onInput={(event) => (value.value = event.currentTarget.value)}
        />
        <button type="submit" disabled={act.isBusy}>
          Create
        </button>
      </form>
      <Failure of={act} />
    </details>
  )
}
