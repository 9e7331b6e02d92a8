import type { JSX } from 'preact'
import type { RunAt, StepAt } from '../models/run-model.js'
import { useControlQuery } from './control-query.js'
import { Countdown, EntryLink, Failure, Instant, Most, Name } from './parts.js'
import { inRegion, type QueueProps } from './queue-props.js'

const words: Readonly<Record<string, string>> = {
  started: 'running',
  success: 'succeeded',
  failed: 'failed',
  canceled: 'cancelled',
}

export function Runs({ runs, ...props }: QueueProps & { readonly runs: readonly RunAt[] }): JSX.Element {
  const { view } = props
  if (runs.length === 0) return <p class="pn-none">No workflow has run.</p>
  return (
    <Most items={runs.toReversed()} of="runs" most={50}>
      {(shown) =>
        shown.map((run) => (
          <details key={run.start.seq} open={runs.length < 6}>
            <summary>
              <span class={`pn-state pn-run-${run.state}`}>{words[run.state]}</span> <Name of={run.url} />{' '}
              <small>{run.id}</small>
            </summary>
            <p class="pn-line">
              <EntryLink view={view} seq={run.start.seq} /> began <Instant at={run.start.at} />
              {run.end && (
                <>
                  , ended <Instant at={run.end.at} /> <EntryLink view={view} seq={run.end.seq} />
                </>
              )}
            </p>
            <ol class="pn-list">
              {run.steps.map((step) => (
                <Step key={`${step.id} ${step.name}`} step={step} {...props} />
              ))}
            </ol>
            {run.state === 'started' && <RunExplained {...props} id={run.id} region={run.region} />}
          </details>
        ))
      }
    </Most>
  )
}

function Step({ step, view, now }: QueueProps & { readonly step: StepAt }): JSX.Element {
  const { wait, attempts, invokedRunId, state } = step
  return (
    <li>
      <EntryLink view={view} seq={step.seq} /> <Name of={step.name} /> <small>{step.type}</small>{' '}
      <span class={`pn-state pn-step-${state}`}>{state}</span>{' '}
      {wait !== undefined && state === 'waiting' && (
        <>
          for event <Name of={wait.eventId} /> until <Countdown at={wait.until} from={now} />
        </>
      )}
      {wait?.notifiedBy !== undefined && (
        <>
          by <EntryLink view={view} seq={wait.notifiedBy} />
        </>
      )}
      {invokedRunId !== undefined && (
        <>
          began run <Name of={invokedRunId} />
        </>
      )}
      {attempts > 1 && <small>{attempts} attempts</small>}
    </li>
  )
}

function RunExplained({
  view,
  control,
  id,
  region,
}: QueueProps & { readonly id: string; readonly region: string | undefined }): JSX.Element | null {
  const explained = useControlQuery<{ explanation: string }>(
    control && (() => control.ask('GET', inRegion(region, `/workflow/runs/${encodeURIComponent(id)}/explain`))),
    [id, view.entries.value.length],
  )
  return control === undefined ? null : (
    <>
      <p>{explained.value?.explanation}</p>
      <Failure of={explained} />
    </>
  )
}
