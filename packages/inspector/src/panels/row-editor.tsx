import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { PortableString } from '../../../../src/kernel/portable.js'
import type { DumpedKey } from '../../../../src/store/dump/store-dump.js'
import { type Cells, type CommandLine, type RowEditing, rowEditing } from '../models/edits.js'
import { shownKey } from '../models/key-tree.js'
import { Bytes, Countdown, Failure, Most, useAct } from './parts.js'
import { runCommands, type StoreControl } from './run-command.js'

interface RowEditorProps {
  readonly value: DumpedKey
  readonly control: StoreControl | undefined
  readonly now: number
}

/** Shows the elements of a value as a table. Rows can be added, changed and removed. */
export function RowEditor({ value, control, now }: RowEditorProps): JSX.Element {
  const editing = rowEditing[value.type]!
  const act = useAct()
  const rows = editing.rows(value).map((cells, at) => ({ cells, deadline: editing.deadline?.(value, at) }))
  const run = (commands: readonly CommandLine[]): Promise<boolean> => act.run(() => runCommands(control!, commands))
  return (
    <>
      <Most items={rows} of="rows">
        {(shown) => (
          <table class="pn-rows">
            <thead>
              <tr>
                {editing.columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
                {control && <th scope="col">change</th>}
              </tr>
            </thead>
            <tbody>
              {shown.map(({ cells, deadline }) => (
                <Row
                  key={shownKey(cells[0]!)}
                  {...{ value, editing, cells, deadline, now, isEditable: control !== undefined, run }}
                />
              ))}
            </tbody>
          </table>
        )}
      </Most>
      {control && <NewRow value={value} editing={editing} run={run} />}
      <Failure of={act} />
    </>
  )
}

interface RowProps {
  readonly value: DumpedKey
  readonly editing: RowEditing
  readonly cells: Cells
  readonly deadline: number | undefined
  readonly now: number
  readonly isEditable: boolean
  readonly run: (commands: readonly CommandLine[]) => Promise<boolean>
}

function Row({ value, editing, cells, deadline, now, isEditable, run }: RowProps): JSX.Element {
  const changed = useSignal<Cells | undefined>(undefined)
  const canChange = isEditable && editing.change !== undefined
  const save = async (): Promise<void> => {
    if (changed.value === undefined) return
    if (await run(editing.change!(value.key, cells, changed.value))) changed.value = undefined
  }
  return (
    <tr>
      {cells.map((cell, at) => (
        <td key={editing.columns[at]}>
          {canChange && at >= editing.fixed && typeof cell === 'string' ? (
            <input
              aria-label={`${editing.columns[at]} of ${shownKey(cells[0]!)}`}
              value={String((changed.value ?? cells)[at])}
              onInput={(event) => (changed.value = withCell(changed.value ?? cells, at, event.currentTarget.value))}
              onKeyDown={(event) => {
                if (event.key === 'Enter') void save()
                else if (event.key === 'Escape') changed.value = undefined
              }}
            />
          ) : (
            <Bytes value={cell} />
          )}
          {at === cells.length - 1 && deadline !== undefined && (
            <small>
              {' '}
              expires <Countdown at={deadline} from={now} />
            </small>
          )}
        </td>
      ))}
      {isEditable && (
        <td>
          {canChange && changed.value !== undefined && (
            <button type="button" onClick={() => void save()}>
              Save
            </button>
          )}
          <button
            type="button"
            aria-label={`Remove ${shownKey(cells[0]!)}`}
            onClick={() => void run(editing.remove(value.key, cells))}
          >
            Remove
          </button>
        </td>
      )}
    </tr>
  )
}

function withCell(cells: Cells, at: number, text: string): readonly PortableString[] {
  return cells.map((cell, index) => (index === at ? text : cell))
}

function NewRow({ value, editing, run }: Pick<RowProps, 'value' | 'editing' | 'run'>): JSX.Element {
  const cells = useSignal<readonly string[]>([])
  const first = useRef<HTMLInputElement>(null)
  return (
    <form
      class="pn-inline"
      onSubmit={async (event) => {
        event.preventDefault()
        const given = editing.fresh.map((_, at) => cells.value[at] ?? '')
        if (!(await run(editing.add(value.key, given)))) return
        cells.value = []
        first.current?.focus()
      }}
    >
      {editing.fresh.map((name, at) => (
        <input
          key={name}
          ref={at === 0 ? first : null}
          aria-label={`New ${name}`}
          placeholder={name}
          value={cells.value[at] ?? ''}
          onInput={(event) => {
            const { value: text } = event.currentTarget
            cells.value = editing.fresh.map((_, index) => (index === at ? text : (cells.value[index] ?? '')))
          }}
        />
      ))}
      <button type="submit">Add</button>
    </form>
  )
}
