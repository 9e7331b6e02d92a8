import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { PortableString } from '../../../../src/kernel/portable.js'
import type { DumpedKey } from '../../../../src/store/dump/store-dump.js'
import { bytesOfHex, expiring, writing } from '../models/edits.js'
import { hexOf, shownKey } from '../models/key-tree.js'
import type { PageView } from '../view.js'
import { modelsOf } from './models-of.js'
import { Bytes, Countdown, EntryLink, Failure, Twice, useAct } from './parts.js'
import { RowEditor } from './row-editor.js'
import { runCommand, type StoreControl } from './run-command.js'
import { TextEditor } from './text-editor.js'

/** Shows the keys and the fields of a search index. An existing index cannot be changed. */
function SearchFields({ value }: { readonly value: Extract<DumpedKey, { type: 'search' }> }): JSX.Element {
  return (
    <table class="pn-rows">
      <caption>
        {value.on === 'STREAM' ? 'entries of stream' : `${value.on} keys of`} {value.prefixes.map(shownKey).join(', ')},{' '}
        {value.language}
      </caption>
      <tbody>
        {value.fields.map(({ path, type }) => (
          <tr key={shownKey(path)}>
            <td>
              <Bytes value={path} />
            </td>
            <td>{type}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface KeyValueProps {
  readonly view: PageView
  readonly value: DumpedKey
  /** Absent if the value is read-only. */
  readonly control: StoreControl | undefined
}

/** Shows one key: its value, its expiration and its changes. */
export function KeyValue({ view, value, control }: KeyValueProps): JSX.Element {
  const { store, point } = modelsOf(view)
  const changes = store.value.model.changesOf(value.key).filter(({ seq }) => seq <= point.value.seq)
  return (
    <article class="pn-value" aria-label={`Key ${shownKey(value.key)}`}>
      <h2>
        <Bytes value={value.key} /> <small>{value.type}</small>
      </h2>
      <Deadline value={value} now={point.value.at} control={control} />
      {value.type === 'string' || value.type === 'json' ? (
        <TextValue value={value} control={control} />
      ) : value.type === 'search' ? (
        <SearchFields value={value} />
      ) : (
        <RowEditor value={value} control={control} now={point.value.at} />
      )}
      {value.type === 'stream' && value.groups.length > 0 && (
        <dl>
          {value.groups.map((group) => (
            <div key={shownKey(group.name)}>
              <dt>
                group <Bytes value={group.name} />
              </dt>
              <dd>
                up to {group.lastDelivered}, {group.pending.length} pending, {group.consumers.length} consumers
              </dd>
            </div>
          ))}
        </dl>
      )}
      {changes.length > 0 && (
        <p class="pn-trail">
          Changed by{' '}
          {changes.slice(-12).map(({ seq, now }) => (
            <span key={seq}>
              {seq > 0 ? <EntryLink view={view} seq={seq} /> : 'a change from before the log'}
              {now === undefined && ' (removed)'}{' '}
            </span>
          ))}
        </p>
      )}
    </article>
  )
}

function Deadline({
  value,
  now,
  control,
}: {
  value: DumpedKey
  now: number
  control: StoreControl | undefined
}): JSX.Element {
  const seconds = useSignal('')
  const act = useAct()
  const { key, expiresAt } = value
  return (
    <>
      <p class="pn-line">
        {expiresAt === undefined ? (
          'Never expires.'
        ) : (
          <>
            Expires <Countdown at={expiresAt} from={now} />
          </>
        )}{' '}
        {control && (
          <>
            <form
              class="pn-inline"
              onSubmit={(event) => {
                event.preventDefault()
                void act.run(() => runCommand(control, expiring(key, seconds.value)))
              }}
            >
              <input
                aria-label="Seconds until the key expires, or empty for never"
                inputmode="decimal"
                size={6}
                placeholder="never"
                value={seconds}
                onInput={(event) => (seconds.value = event.currentTarget.value)}
              />
              <button type="submit">Expire in seconds</button>
            </form>
            <Twice sure="Really delete" act={() => void act.run(() => runCommand(control, ['DEL', key]))}>
              Delete key
            </Twice>
          </>
        )}
      </p>
      <Failure of={act} />
    </>
  )
}

type TextKey = Extract<DumpedKey, { type: 'string' | 'json' }>

function TextValue({
  value,
  control,
}: {
  readonly value: TextKey
  readonly control: StoreControl | undefined
}): JSX.Element {
  const isBytes = typeof value.value !== 'string'
  const stored = isBytes ? hexOf((value.value as { base64: string }).base64) : (value.value as string)
  const changed = useSignal<string | undefined>(undefined)
  const act = useAct()
  const text = changed.value ?? stored
  if (control === undefined) return <pre class="pn-text">{isJson(stored) ? pretty(stored) : stored}</pre>
  const save = async (): Promise<void> => {
    const written: PortableString | undefined = isBytes ? bytesOfHex(text) : text
    if (written === undefined) return act.fail('Bytes are pairs of hexadecimal digits: ff 00 7a.')
    if (await act.run(() => runCommand(control, writing(value, written)))) changed.value = undefined
  }
  return (
    <>
      <TextEditor
        label={isBytes ? 'Bytes as hexadecimal digits' : 'Value'}
        text={text}
        isJson={value.type === 'json' || isJson(stored)}
        onChange={(now) => (changed.value = now === stored ? undefined : now)}
      />
      <p class="pn-line">
        <button type="button" disabled={act.isBusy || changed.value === undefined} onClick={() => void save()}>
          Save
        </button>
        {changed.value !== undefined && (
          <button type="button" onClick={() => (changed.value = undefined)}>
            Undo
          </button>
        )}
        {!isBytes && isJson(text) && pretty(text) !== text && (
          <button type="button" onClick={() => (changed.value = pretty(text))}>
            Indent
          </button>
        )}
      </p>
      <Failure of={act} />
    </>
  )
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function pretty(text: string): string {
  return JSON.stringify(JSON.parse(text), undefined, 2)
}
