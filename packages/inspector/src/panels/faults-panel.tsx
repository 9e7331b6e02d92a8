import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { Control } from '../source.js'
import { useControlQuery } from './control-query.js'
import { FaultForm } from './fault-form.js'
import type { PanelProps } from './panel-view.js'
import { EntryLink, Failure, Instant, Most, Name, Twice, useAct } from './parts.js'

interface ListedFault {
  readonly rule: {
    readonly on: string | readonly string[]
    readonly name?: string
    readonly match?: object
    readonly times?: number
    readonly fault: { readonly kind: string }
  }
  readonly matched: number
  readonly injected: number
  readonly location: string
}

/** Shows fault rules, how often each was injected, which are unused, and a form for a new rule. */
export function FaultsPanel({ view }: PanelProps): JSX.Element {
  const { control } = view.source
  const { from, to } = view.range.value ?? { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }
  const struck = view.entries.value.filter(({ type, at }) => type === 'fault' && at >= from && at <= to)
  return (
    <section class="pn" aria-label="Faults">
      {control && <Rules view={view} control={control} key={control.tenant} />}
      <h2>Injected</h2>
      {struck.length === 0 && (
        <p class="pn-none">No fault was injected{view.range.value && ' in the selected range'}.</p>
      )}
      <Most items={struck.toReversed()} of="faults" most={50}>
        {(shown) => (
          <ol class="pn-list" reversed>
            {shown.map(({ seq, at, fault, point, target, rule, effect }) => (
              <li key={seq}>
                <EntryLink view={view} seq={seq} /> <Instant at={at} /> <b>{String(fault)}</b>{' '}
                <small>{String(point)}</small> <Name of={String(target ?? '')} />{' '}
                {effect !== undefined && <Name of={String(effect)} />}{' '}
                {rule !== undefined && (
                  <small>
                    rule <Name of={String(rule)} />
                  </small>
                )}
              </li>
            ))}
          </ol>
        )}
      </Most>
    </section>
  )
}

function Rules({ view, control }: PanelProps & { readonly control: Control }): JSX.Element {
  const changed = useSignal(0)
  const act = useAct()
  const when = [control, changed.value, view.entries.value.length, view.world.value]
  const rules = useControlQuery<readonly ListedFault[]>(() => control.ask('GET', '/faults'), when)
  const unused = useControlQuery<readonly { message: string }[]>(() => control.ask('GET', '/faults/unused'), when)
  const remove = (query: string): void => {
    void act.run(() => control.ask('DELETE', `/faults${query}`)).then(() => changed.value++)
  }
  return (
    <>
      <FaultForm view={view} control={control} onAdded={() => changed.value++} />
      <h2>Rules</h2>
      <Failure of={rules} />
      <Failure of={act} />
      {rules.value?.length === 0 && <p class="pn-none">There are no rules.</p>}
      <ul class="pn-list">
        {rules.value?.map(({ rule, matched, injected: struck, location: line }, at) => {
          const { kind, ...fields } = rule.fault
          return (
            <li key={`${at} ${rule.name}`}>
              <b>{kind}</b> {Object.keys(fields).length > 0 && <code>{JSON.stringify(fields)}</code>} on{' '}
              {[rule.on].flat().join(', ')} {rule.match && <code>{JSON.stringify(rule.match)}</code>}{' '}
              <span class={`pn-state pn-${struck === 0 ? 'unused' : 'struck'}`}>
                injected {struck}
                {rule.times === undefined ? '' : ` of ${rule.times}`} times
              </span>{' '}
              <small>
                {matched !== struck && `matched ${matched} times `}
                {rule.name} {line}
              </small>
              {rule.name !== undefined && (
                <button
                  type="button"
                  aria-label={`Remove ${rule.name}`}
                  onClick={() => remove(`?name=${encodeURIComponent(rule.name!)}`)}
                >
                  Remove
                </button>
              )}
            </li>
          )
        })}
      </ul>
      {(rules.value?.length ?? 0) > 0 && (
        <Twice sure="Really remove all rules" act={() => remove('')} disabled={act.isBusy}>
          Remove all
        </Twice>
      )}
      {(unused.value?.length ?? 0) > 0 && (
        <>
          <h2>Unused</h2>
          <ul class="pn-list">
            {unused.value?.map(({ message: sentence }, at) => (
              <li key={`${at} ${sentence}`}>
                <Name of={sentence} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
