import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { iso } from '../../../../src/kernel/instant.js'
import { instantOf } from '../models/instant-text.js'
import type { Control } from '../source.js'
import { modelsOf } from './models-of.js'
import type { PanelProps } from './panel-view.js'
import { Failure, Instant, useAct } from './parts.js'

/** Shows the sandbox at an earlier instant, and creates forks. */
export function GoBack({ view }: PanelProps): JSX.Element {
  const { point, isPresent, present } = modelsOf(view)
  const typed = useSignal('')
  const act = useAct()
  const first = view.entries.value[0]?.at
  const now = view.facts.value?.now ?? point.value.at
  const open = (event: Event): void => {
    event.preventDefault()
    const at = instantOf(typed.value, now)
    const problem = problemWith(at, now, first)
    act.fail(problem)
    if (problem === undefined) view.instant.value = at
  }
  return (
    <>
      <h2>Go back</h2>
      <form class="pn-line" onSubmit={open}>
        <input
          aria-label="Instant: 2030-01-01 09:00:00, or -5m for five minutes ago"
          placeholder="-5m"
          value={typed}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
        <button type="submit">Open</button>
        {first !== undefined && now > first && (
          <input
            type="range"
            aria-label="Instant"
            aria-valuetext={iso(point.value.at)}
            min={first}
            max={now}
            value={Math.min(point.value.at, now)}
            onInput={(event) => {
              const at = Number(event.currentTarget.value)
              view.instant.value = at >= now ? undefined : at
            }}
          />
        )}
        {!isPresent.value && (
          <button type="button" onClick={present}>
            Now
          </button>
        )}
      </form>
      <Failure of={act} />
      {!isPresent.value && (
        <p>
          Everything is shown as of <Instant at={point.value.at} /> and is read-only.
        </p>
      )}
      {view.source.control && <Fork view={view} control={view.source.control} />}
    </>
  )
}

function problemWith(at: number | undefined, now: number, first: number | undefined): string | undefined {
  if (at === undefined) return 'Type an instant as 2030-01-01 09:00:00, 09:00:00 (in UTC) or -5m.'
  if (at > now) return 'This instant is in the future: advance the clock to it.'
  if (first === undefined || at >= first) return undefined
  return `The log begins at ${iso(first)} and contains nothing earlier. Choose a later instant.`
}

/** Creates a tenant that continues from the shown instant. */
function Fork({ view, control }: PanelProps & { readonly control: Control }): JSX.Element {
  const { point, isPresent } = modelsOf(view)
  const name = useSignal('')
  const act = useAct()
  const { at, seq } = point.value
  // Without `at`, the fork continues from the present. If several entries have the same instant, it continues from the
  // selected one.
  const instant = isPresent.value ? {} : { at: Number.isFinite(seq) ? { seq } : at }
  const fork = async (event: Event): Promise<void> => {
    event.preventDefault()
    const wanted = name.value.trim()
    await act.run(async () => {
      const body = { ...instant, ...(wanted !== '' && { name: wanted }) }
      const { tenant } = (await control.ask('POST', '/fork', body)) as { tenant: string }
      view.tenant.value = tenant
    })
  }
  return (
    <form class="pn-line" onSubmit={(event) => void fork(event)}>
      <input
        aria-label="Name of the new tenant"
        placeholder="name of a tenant"
        value={name}
        onInput={(event) => (name.value = event.currentTarget.value)}
      />
      <button type="submit" disabled={act.isBusy}>
        Fork from here
      </button>
      <small>
        A fork that continues from <Instant at={at} />; it sends nothing over the network.
      </small>
      <Failure of={act} />
    </form>
  )
}
