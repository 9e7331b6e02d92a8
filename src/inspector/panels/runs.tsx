import type { JSX } from 'preact'
import type { RunStory, StepStory } from '../../report/runs.js'
import { useAsked } from './asked.js'
import { Countdown, EntryLink, Failure, Moment, Most } from './parts.js'
import type { QueueProps } from './queue-props.js'

const words: Readonly<Record<string, string>> = {
  started: 'goes on',
  success: 'succeeded',
  failed: 'failed',
  canceled: 'cancelled',
}

/** Runs of workflows, step by step. */
export function Runs({ runs, ...props }: QueueProps & { readonly runs: readonly RunStory[] }): JSX.Element {
  const { view } = props
  if (runs.length === 0) return <p class="pn-none">No workflow has run.</p>
  return (
    <Most items={runs.toReversed()} of="runs" most={50}>
      {(shown) =>
        shown.map((run) => (
          <details key={run.id} open={runs.length < 6}>
            <summary>
              <span class={`pn-state pn-run-${run.state}`}>{words[run.state]}</span> <bdi>{run.url}</bdi>{' '}
              <small>{run.id}</small>
            </summary>
            <p class="pn-line">
              <EntryLink view={view} seq={run.start.seq} /> began <Moment at={run.start.at} />
              {run.end && (
                <>
                  , ended <Moment at={run.end.at} /> <EntryLink view={view} seq={run.end.seq} />
                </>
              )}
            </p>
            <ol class="pn-list">
              {run.steps.map((step) => (
                <Step key={`${step.id} ${step.name}`} step={step} {...props} />
              ))}
            </ol>
            {run.state === 'started' && <RunExplained {...props} id={run.id} />}
          </details>
        ))
      }
    </Most>
  )
}

function Step({ step, view, now }: QueueProps & { readonly step: StepStory }): JSX.Element {
  const { wait, attempts, invoked } = step
  return (
    <li>
      <EntryLink view={view} seq={step.pointer.seq} /> <bdi>{step.name}</bdi> <small>{step.type}</small>{' '}
      <span class={`pn-state pn-step-${step.state}`}>{step.state}</span>{' '}
      {wait !== undefined && step.state === 'waiting' && (
        <>
          for event <bdi>{wait.entry.eventId}</bdi> until <Countdown at={wait.entry.until} from={now} />
        </>
      )}
      {wait?.notified && (
        <>
          told by <EntryLink view={view} seq={wait.notified.seq} />
        </>
      )}
      {invoked && (
        <>
          began run <bdi>{invoked.invokedRunId}</bdi>
        </>
      )}
      {attempts.length > 1 && <small>{attempts.length} attempts</small>}
    </li>
  )
}

function RunExplained({ view, control, id }: QueueProps & { readonly id: string }): JSX.Element | null {
  const explained = useAsked<{ explanation: string }>(
    control && (() => control.ask('GET', `/workflow/runs/${encodeURIComponent(id)}/explain`)),
    [id, view.entries.value.length],
  )
  return control === undefined ? null : (
    <>
      <p>{explained.value?.explanation}</p>
      <Failure of={explained} />
    </>
  )
}
