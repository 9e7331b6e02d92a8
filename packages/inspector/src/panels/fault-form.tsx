import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { type FaultField, type FaultKindInfo, faultOf, typedOf } from '../models/fault-fields.js'
import { type FaultTarget, targetsOf } from '../models/targets.js'
import type { Control } from '../source.js'
import type { PageView } from '../view.js'
import { useControlQuery } from './control-query.js'
import { Failure, Marked, useAct } from './parts.js'

interface FaultFormProps {
  readonly view: PageView
  readonly control: Control
  readonly onAdded: () => void
}

/** Form for a new fault rule, with its fault and its target. The selected entry suggests targets. */
export function FaultForm({ view, control, onAdded }: FaultFormProps): JSX.Element {
  const catalog = useControlQuery<readonly FaultKindInfo[]>(() => control.ask('GET', '/faults/catalog'), [control])
  const place = useSignal('')
  const kindName = useSignal('')
  const changed = useSignal<Readonly<Record<string, string>>>({})
  const times = useSignal('1')
  const span = useSignal('')
  const act = useAct()
  const kinds = catalog.value ?? []
  const entry = view.entry(view.selectedSeq.value)
  const targets = targetsOf(entry)
  const points = [...new Set(kinds.flatMap((one) => one.points))]
  // A target that an entry suggested is not valid for another entry.
  const chosen = placeOf(place.value, targets, points) ?? targets[0] ?? anywhere(points[0] ?? '')
  const possible = kinds.filter((one) => one.points.includes(chosen.on))
  const kind = possible.find((one) => one.kind === kindName.value) ?? possible[0]
  const typed = kind === undefined ? {} : { ...typedOf(kind), ...changed.value }
  const add = async (event: Event): Promise<void> => {
    event.preventDefault()
    const isAdded = await act.run(async () => {
      const rule = {
        on: chosen.on,
        name: `${kind!.kind} of the inspector ${view.entries.value.at(-1)?.seq ?? 0}.${added++}`,
        ...(Object.keys(chosen.match).length > 0 && { match: chosen.match }),
        ...(times.value !== '' && { times: Number(times.value) }),
        ...(span.value.trim() !== '' && { until: span.value.trim() }),
        fault: faultOf(kind!, typed),
      }
      await control.ask('POST', '/faults', { rules: rule })
    })
    if (isAdded) onAdded()
  }
  if (kinds.length === 0) return <Failure of={catalog} />
  return (
    <form class="pn-form" onSubmit={(event) => void add(event)} aria-label="Inject a fault">
      <label>
        Inject{' '}
        <select value={keyOf(chosen)} onChange={(event) => (place.value = event.currentTarget.value)}>
          {entry !== undefined && targets.length > 0 && (
            <optgroup label={`Entry #${entry.seq}`}>
              {targets.map((target) => (
                <option key={keyOf(target)} value={keyOf(target)}>
                  {target.label}
                </option>
              ))}
            </optgroup>
          )}
          <optgroup label="Anything">
            {points.map((point) => (
              <option key={point} value={point}>
                {point}
              </option>
            ))}
          </optgroup>
        </select>
      </label>
      <label>
        with{' '}
        <select
          value={kind?.kind ?? ''}
          onChange={(event) => {
            kindName.value = event.currentTarget.value
            changed.value = {}
          }}
        >
          {possible.map((one) => (
            <option key={one.kind} value={one.kind}>
              {one.kind}
            </option>
          ))}
        </select>
      </label>
      <label>
        times{' '}
        <input
          inputmode="numeric"
          size={4}
          placeholder="always"
          value={times}
          onInput={(event) => (times.value = event.currentTarget.value)}
        />
      </label>
      <label>
        for{' '}
        <input size={5} placeholder="ever" value={span} onInput={(event) => (span.value = event.currentTarget.value)} />
      </label>
      {kind?.fields.map((field) => (
        <Field
          key={`${kind.kind} ${field.name}`}
          field={field}
          value={typed[field.name] ?? ''}
          onInput={(text) => (changed.value = { ...changed.value, [field.name]: text })}
        />
      ))}
      <button type="submit" disabled={act.isBusy || kind === undefined}>
        {Object.keys(chosen.match).length > 0 ? 'Inject here' : 'Inject'}
      </button>
      <p class="pn-line">
        <small>
          <Marked text={kind?.summary ?? ''} />
        </small>
      </p>
      <Failure of={act} />
    </form>
  )
}

/** Number that makes the name of each added rule unique. */
let added = 1

function anywhere(on: string): FaultTarget {
  return { label: on, on, match: {} }
}

function keyOf({ on, match }: FaultTarget): string {
  return Object.keys(match).length === 0 ? on : JSON.stringify([on, match])
}

function placeOf(key: string, targets: readonly FaultTarget[], points: readonly string[]): FaultTarget | undefined {
  return targets.find((target) => keyOf(target) === key) ?? (points.includes(key) ? anywhere(key) : undefined)
}

interface FieldProps {
  readonly field: FaultField
  readonly value: string
  readonly onInput: (text: string) => void
}

function Field({ field: { name, type, optional, values }, value, onInput }: FieldProps): JSX.Element {
  const words = type === 'boolean' ? ['true', 'false'] : values?.map(String)
  return (
    <span>
      {name}{' '}
      {words === undefined ? (
        <input
          aria-label={name}
          size={type === 'number' || type === 'integer' ? 6 : 14}
          required={optional !== true}
          placeholder={optional === true ? 'default' : type}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      ) : (
        <select
          aria-label={name}
          value={value}
          required={optional !== true}
          onChange={(event) => onInput(event.currentTarget.value)}
        >
          <option value="">{optional === true ? 'default' : 'choose'}</option>
          {words.map((word) => (
            <option key={word} value={word}>
              {word}
            </option>
          ))}
        </select>
      )}
    </span>
  )
}
