import type { JSX } from 'preact'
import type { ShownMessageState } from '../models/message-states.js'
import type { QueueAt } from '../models/queue-model.js'
import { useControlQuery } from './control-query.js'
import { stateWords } from './messages.js'
import { Countdown, Failure, Most, Name } from './parts.js'
import { type QueueProps, queuePath } from './queue-props.js'

interface UnfinishedMessage {
  readonly id: string
  readonly url: string
  readonly state: ShownMessageState
  readonly createdAt: number
  readonly nextAttemptAt: number
}

/**
 * Shows messages and dead letters whose publication is not in the log, because they were loaded with a state, or
 * because old entries were dropped.
 */
export function UnfinishedMessages({
  view,
  control,
  now,
  queue,
}: QueueProps & { readonly queue: QueueAt }): JSX.Element | null {
  const there = useControlQuery<readonly UnfinishedMessage[]>(
    control &&
      (async () => {
        const [waiting, failed] = await Promise.all(
          ['messages', 'dead-letters'].map((part) => control.ask('GET', queuePath(undefined, part))),
        )
        return [
          ...(waiting as UnfinishedMessage[]),
          ...(failed as { message: UnfinishedMessage }[]).map(({ message }) => message),
        ]
      }),
    [view.entries.value.length, view.world.value],
  )
  const begin = view.entries.value[0]?.at ?? Number.POSITIVE_INFINITY
  const known = new Set(queue.messages.map(({ id }) => id))
  const untold = there.value?.filter(({ id, createdAt }) => createdAt <= begin && !known.has(id)) ?? []
  if (control === undefined || (untold.length === 0 && there.failure === undefined)) return null
  return (
    <details open>
      <summary>Messages older than the log: {untold.length}</summary>
      <Failure of={there} />
      <Most items={untold} of="messages" most={100}>
        {(shown) => (
          <ul class="pn-list">
            {shown.map(({ id, url, state, nextAttemptAt }) => (
              <li key={id}>
                <span class={`pn-state pn-${state.toLowerCase()}`}>{stateWords[state]}</span> <Name of={url} />{' '}
                {state !== 'FAILED' && <Countdown at={nextAttemptAt} from={now} />}
              </li>
            ))}
          </ul>
        )}
      </Most>
    </details>
  )
}
