import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { MessageAt, ShownMessageState } from '../models/message-states.js'
import { isLive, reasonOf } from '../models/queue-model.js'
import { useControlQuery } from './control-query.js'
import { modelsOf } from './models-of.js'
import { Countdown, EntryLink, Failure, Most, Name } from './parts.js'
import { type QueueProps, queuePath } from './queue-props.js'

/** Label of each message state. Messages are shown in this order of states. */
export const stateWords: Readonly<Record<ShownMessageState, string>> = {
  ACTIVE: 'being delivered',
  RETRY: 'waits for a retry',
  CREATED: 'waits for its first attempt',
  CANCEL_REQUESTED: 'being canceled',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  LOST: 'lost by a fault',
  DELIVERED: 'delivered',
}

interface MessagesProps extends QueueProps {
  readonly messages: readonly MessageAt[]
}

/** Shows the messages grouped by state. A waiting message has its reason. */
export function Messages({ messages, ...props }: MessagesProps): JSX.Element {
  const open = useSignal<string | undefined>(undefined)
  if (messages.length === 0) return <p class="pn-none">There are no messages.</p>
  return (
    <>
      {Object.entries(stateWords).map(([state, words]) => {
        const here = messages.filter((message) => message.state === state)
        return here.length === 0 ? null : (
          <details key={state} open={state !== 'DELIVERED' && state !== 'CANCELLED'}>
            <summary>
              <span class={`pn-state pn-${state.toLowerCase()}`}>{words}</span> {here.length}
            </summary>
            <Most items={here} of="messages" most={100}>
              {(shown) => (
                <ul class="pn-list">
                  {shown.map((message) => (
                    <MessageRow key={message.id} {...props} message={message} open={open} />
                  ))}
                </ul>
              )}
            </Most>
          </details>
        )
      })}
    </>
  )
}

interface MessageRowProps extends QueueProps {
  readonly message: MessageAt
  readonly open: { value: string | undefined }
}

function MessageRow({ message, open, ...props }: MessageRowProps): JSX.Element {
  const { view, now } = props
  const { id, story, attempts, due } = message
  const why = isLive(message) ? reasonOf(message, modelsOf(view).queue.value, now) : undefined
  const { url, kind, maxRetries, queue, flowControlKey, scheduleId, labels } = story.said
  const isOpen = open.value === id
  return (
    <li>
      <EntryLink view={view} seq={message.seq} />{' '}
      <button
        type="button"
        class="pn-url"
        aria-expanded={isOpen}
        title={url}
        onClick={() => (open.value = isOpen ? undefined : id)}
      >
        <Name of={url} />
      </button>{' '}
      <small>
        {kind === 'message' ? '' : `${kind}, `}
        {attempts} of {maxRetries + 1} attempts
      </small>
      {isLive(message) && (due !== undefined || why !== undefined) && (
        <span class="pn-why">
          {' '}
          {due !== undefined && <Countdown at={due} from={now} />} {why}
        </span>
      )}
      <small>
        {queue !== undefined && ` queue ${queue}`}
        {flowControlKey !== undefined && ` key ${flowControlKey}`}
        {scheduleId !== undefined && ` schedule ${scheduleId}`}
        {labels?.map((label) => ` label ${label}`).join()}
      </small>
      {isOpen && <MessageDetails {...props} message={message} />}
    </li>
  )
}

/** Shows buttons for one message, and what the server reports about it. */
function MessageDetails({ message, view, control, act }: QueueProps & { readonly message: MessageAt }): JSX.Element {
  const { id, story } = message
  const live = isLive(message)
  const ask = (verb: string): Promise<unknown> =>
    control!.ask('POST', queuePath(story.region, 'messages', id, verb), {})
  const explained = useControlQuery<{ explanation: string }>(
    control && (() => control.ask('GET', queuePath(story.region, 'messages', id, 'explain'))),
    [id, message.seq, view.facts.value?.now],
  )
  return (
    <div class="pn-details">
      <p>
        <code>{id}</code>
      </p>
      {control && <p aria-live="polite">{explained.value?.explanation}</p>}
      <Failure of={explained} />
      <p class="pn-line">
        {story.entries.map(({ seq, type }) => (
          <EntryLink key={seq} view={view} seq={seq}>
            #{seq} {type}
          </EntryLink>
        ))}
        {control && live && message.state !== 'ACTIVE' && (
          <button type="button" disabled={act.isBusy} onClick={() => void act.run(() => ask('deliver-now'))}>
            Deliver now
          </button>
        )}
        {control && live && (
          <button type="button" disabled={act.isBusy} onClick={() => void act.run(() => ask('cancel'))}>
            Cancel message
          </button>
        )}
      </p>
    </div>
  )
}
