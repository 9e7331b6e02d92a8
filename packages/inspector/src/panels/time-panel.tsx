import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { comingOf } from '../models/upcoming.js'
import type { Control } from '../source.js'
import { useControlQuery } from './control-query.js'
import { GoBack } from './go-back.js'
import { moved } from './last-move.js'
import { modelsOf } from './models-of.js'
import type { PanelProps } from './panel-view.js'
import { Countdown, Failure, Instant, Most, Name, useAct } from './parts.js'
import { Play } from './play.js'

interface Clock {
  readonly mode: string
  readonly milliseconds: number
  readonly pending: readonly { readonly at: string; readonly label: string; readonly background: boolean }[]
  readonly more?: string
}

interface ControlledProps extends PanelProps {
  readonly control: Control
}

const modes: Readonly<Record<string, string>> = {
  manual: 'moves only on request',
  auto: 'moves when the sandbox waits',
  real: 'follows the time of the host',
}

/** Panel of the clock: its time, pending timers, and buttons that move time or show an earlier instant. */
export function TimePanel({ view }: PanelProps): JSX.Element {
  const { control } = view.source
  const { point, isPresent } = modelsOf(view)
  const facts = view.facts.value
  return (
    <section class="pn" aria-label="Time">
      {facts && (
        <p class="pn-now">
          <Instant at={isPresent.value ? facts.now : point.value.at} />{' '}
          {isPresent.value ? (
            facts.mode && <small>{modes[facts.mode] ?? facts.mode}</small>
          ) : (
            <small>
              is shown; the time now is <Instant at={facts.now} />
            </small>
          )}
        </p>
      )}
      {control && isPresent.value && facts?.mode !== 'real' && (
        <Moves view={view} control={control} key={control.tenant} />
      )}
      <GoBack view={view} />
      {!isPresent.value ? (
        <CameThen view={view} />
      ) : (
        control && <Coming view={view} control={control} key={`coming ${control.tenant}`} />
      )}
    </section>
  )
}

function Moves({ view, control }: ControlledProps): JSX.Element {
  const by = useSignal('1m')
  const act = useAct()
  const move = (order: string, body: object): Promise<boolean> => act.run(() => moved(view, control, order, body))
  return (
    <>
      <fieldset class="pn-group pn-line" aria-label="Move time">
        <button type="button" disabled={act.isBusy} onClick={() => void move('step', {})}>
          Step to the next event
        </button>
        <form
          class="pn-inline"
          onSubmit={(event) => {
            event.preventDefault()
            void move('advance', { by: /^\d+$/.test(by.value) ? Number(by.value) : by.value.trim() })
          }}
        >
          <input
            aria-label="How long: 90s, 5m, 1d"
            size={6}
            value={by}
            onInput={(event) => (by.value = event.currentTarget.value)}
          />
          <button type="submit" disabled={act.isBusy}>
            Advance
          </button>
        </form>
        <button type="button" disabled={act.isBusy} onClick={() => void move('drain', {})}>
          Drain
        </button>
        {act.isBusy && (
          <button type="button" onClick={() => void control.ask('POST', '/clock/interrupt', {})}>
            Stop
          </button>
        )}
        <Play view={view} />
      </fieldset>
      <Failure of={act} />
    </>
  )
}

/** Shows the timers that were pending at an earlier instant, as far as the log contains them. */
function CameThen({ view }: PanelProps): JSX.Element {
  const { queue, point } = modelsOf(view)
  const coming = comingOf(queue.value, view.entries.value, point.value)
  return (
    <>
      <h2>Timers</h2>
      <p class="pn-none">
        {coming.length === 0
          ? 'The log contains no timer of that instant.'
          : 'Timers that were pending at that instant, according to the log:'}
      </p>
      <Most items={coming} of="times" most={50}>
        {(shown) => (
          <ol class="pn-list">
            {shown.map(({ id, at, what }) => (
              <li key={id}>
                <Countdown at={at} from={point.value.at} /> <Name of={what} />
              </li>
            ))}
          </ol>
        )}
      </Most>
    </>
  )
}

/** Shows the timers. */
function Coming({ view, control }: ControlledProps): JSX.Element {
  const facts = view.facts.value
  const asked = useControlQuery<Clock>(
    () => control.ask('GET', '/clock'),
    [control, facts?.now, view.entries.value.length],
  )
  const now = facts?.now ?? asked.value?.milliseconds ?? 0
  return (
    <>
      <Failure of={asked} />
      <h2>Timers</h2>
      {asked.value?.pending.length === 0 && <p class="pn-none">There are no timers.</p>}
      <Most items={asked.value?.pending ?? []} of="timers" most={50}>
        {(shown) => (
          <ol class="pn-list">
            {shown.map(({ at, label, background }, index) => (
              <li key={`${at} ${index}`}>
                <Countdown at={Date.parse(at)} from={now} /> <Name of={label} />{' '}
                {background && <small>in the background</small>}
              </li>
            ))}
          </ol>
        )}
      </Most>
      {asked.value?.more && <p>{asked.value.more}</p>}
    </>
  )
}
