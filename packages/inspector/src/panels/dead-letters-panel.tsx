import type { JSX } from 'preact'
import { statusText } from '../entry-text.js'
import type { DeadLetterAt } from '../models/queue-model.js'
import { useControlQuery } from './control-query.js'
import { EntryLink, Failure, Instant, Most, Name } from './parts.js'
import { type QueueProps, queuePath } from './queue-props.js'

interface DeadLettersProps extends QueueProps {
  readonly letters: readonly DeadLetterAt[]
}

/**
 * Shows dead letters. The server reports which of them still exist, because a test can remove a dead letter without an
 * entry in the log.
 */
export function DeadLetters({ view, control, act, letters }: DeadLettersProps): JSX.Element {
  const regions = [...new Set(letters.map(({ message }) => message?.story.region))]
  const there = useControlQuery<readonly string[]>(
    control &&
      (async () => {
        const lists = await Promise.all(
          regions.map((region) => control.ask('GET', queuePath(region, 'dead-letters')) as Promise<{ id: string }[]>),
        )
        return lists.flat().map(({ id }) => id)
      }),
    [letters.length, regions.length, view.entries.value.length],
  )
  const isThere = ({ id, takenBy }: DeadLetterAt): boolean => there.value?.includes(id) ?? takenBy === undefined
  if (letters.length === 0) return <p class="pn-none">There are no dead letters.</p>
  return (
    <>
      <Failure of={there} />
      <Most items={letters} of="dead letters" most={100}>
        {(shown) => (
          <ul class="pn-list">
            {shown.map((letter) => {
              const { id, entry, takenBy, message } = letter
              const retry = (): Promise<unknown> =>
                control!.ask('POST', queuePath(message?.story.region, 'dead-letters', id, 'retry'), {})
              return (
                <li key={id}>
                  <EntryLink view={view} seq={entry.seq} />{' '}
                  <span class="pn-url" title={entry.url}>
                    <Name of={entry.url} />
                  </span>{' '}
                  <small>
                    <Name of={statusText(entry.status, entry.error)} />, <Instant at={entry.at} />
                  </small>{' '}
                  {!isThere(letter) ? (
                    <small>removed {takenBy !== undefined && <EntryLink view={view} seq={takenBy} />}</small>
                  ) : (
                    control && (
                      <button
                        type="button"
                        disabled={act.isBusy}
                        aria-label={`Retry ${entry.url}`}
                        onClick={() => void act.run(retry).then(there.again)}
                      >
                        Retry
                      </button>
                    )
                  )}
                </li>
              )
            })}
          </ul>
        )}
      </Most>
    </>
  )
}
