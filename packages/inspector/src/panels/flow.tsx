import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { FifoQueueAt, FlowKeyAt, GroupAt } from '../models/queue-settings.js'
import { useControlQuery } from './control-query.js'
import { EntryLink, Failure, Name } from './parts.js'
import { type QueueProps, queuePath } from './queue-props.js'

/** Shows flow-control keys with their limits, and the messages that are running or held. */
export function FlowKeys({ keys, ...props }: QueueProps & { readonly keys: readonly FlowKeyAt[] }): JSX.Element {
  if (keys.length === 0) return <p class="pn-none">No message has named a flow-control key.</p>
  return (
    <ul class="pn-list">
      {keys.map((key) => {
        const { name, region, parallelism, rate, period = 1, paused, pinned, running, held } = key
        return (
          <li key={`${region} ${name}`}>
            <b>
              <Name of={name} />
            </b>{' '}
            {paused && <span class="pn-state pn-paused">paused</span>} {running.length}
            {parallelism === undefined ? '' : ` of ${parallelism}`} running, {held.length} held
            {rate === undefined ? '' : `, ${rate} calls in ${period} s`}
            {pinned && ', pinned'}
            <Explained {...props} region={region} what={{ flowControlKey: name }} />
            {held.slice(0, 20).map(({ id, seq, story }) => (
              <div key={id}>
                <EntryLink view={props.view} seq={seq} /> <Name of={story.said.url} />
              </div>
            ))}
          </li>
        )
      })}
    </ul>
  )
}

/** Shows FIFO queues with buttons to pause and resume them. */
export function FifoQueues({ lanes, ...props }: QueueProps & { readonly lanes: readonly FifoQueueAt[] }): JSX.Element {
  const { control, act } = props
  if (lanes.length === 0) return <p class="pn-none">There are no FIFO queues.</p>
  return (
    <ul class="pn-list">
      {lanes.map(({ name, region, parallelism, paused, messages }) => {
        const verb = paused ? 'resume' : 'pause'
        return (
          <li key={`${region} ${name}`}>
            <b>
              <Name of={name} />
            </b>{' '}
            {paused && <span class="pn-state pn-paused">paused</span>} {messages.length} in it, {parallelism} at a time{' '}
            {control && (
              <button
                type="button"
                disabled={act.isBusy}
                aria-label={`${paused ? 'Resume' : 'Pause'} ${name}`}
                onClick={() => void act.run(() => control.ask('POST', queuePath(region, 'queues', name, verb), {}))}
              >
                {paused ? 'Resume' : 'Pause'}
              </button>
            )}
            <Explained {...props} region={region} what={{ queue: name }} />
          </li>
        )
      })}
    </ul>
  )
}

interface ExplainedProps extends QueueProps {
  readonly region: string | undefined
  readonly what: Readonly<Record<string, string>>
}

/** Shows why messages wait. The explanation is requested when a user opens it. */
export function Explained({ view, control, region, what }: ExplainedProps): JSX.Element | null {
  const isOpen = useSignal(false)
  const asks = control !== undefined && isOpen.value
  const explained = useControlQuery<{ explanation: string }>(
    asks ? () => control.ask('POST', queuePath(region, 'explain'), what) : undefined,
    [view.facts.value?.now, view.entries.value.length],
  )
  return control === undefined ? null : (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>Explain</summary>
      <p>{explained.value?.explanation}</p>
      <Failure of={explained} />
    </details>
  )
}

interface UrlGroup {
  readonly name: string
  readonly endpoints: readonly { readonly url: string; readonly name?: string }[]
}

/** Shows URL groups. In a recording, only groups to which messages in the log were sent. */
export function Groups({ view, control, groups }: QueueProps & { readonly groups: readonly GroupAt[] }): JSX.Element {
  const asked = useControlQuery<readonly UrlGroup[]>(control && (() => control.ask('GET', '/queue/url-groups')), [
    view.entries.value.length,
  ])
  const told = groups.map(({ name, endpoints }) => ({ name, endpoints: endpoints.map((url) => ({ url })) }))
  const shown: readonly UrlGroup[] = (control && asked.value) ?? told
  if (shown.length === 0)
    return <p class="pn-none">There are no URL groups{control ? '' : ' that a message went to'}.</p>
  return (
    <ul class="pn-list">
      {shown.map(({ name, endpoints }) => (
        <li key={name}>
          <b>
            <Name of={name} />
          </b>{' '}
          <small>{groups.find((group) => group.name === name)?.messages ?? 0} messages</small>
          <ul>
            {endpoints.map((endpoint) => (
              <li key={endpoint.url}>
                <Name of={endpoint.url} /> {endpoint.name && <small>{endpoint.name}</small>}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  )
}
