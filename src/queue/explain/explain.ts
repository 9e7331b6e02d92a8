import { checkOptionNames } from '../../kernel/nearest-name.js'
import type { QueueEngine } from '../queue-engine.js'
import { messageText } from './message-text.js'
import { scheduleText } from './schedule-text.js'
import { deduplicationText, flowControlText, queueText } from './subjects.js'

/** Subject of `explain()` if it is not a message: one resource, identified by its name. */
export type ExplainTarget =
  | {
      /** Name of the FIFO queue to explain. */
      readonly queue: string
    }
  | {
      /** Flow-control key to explain, with the messages that wait for it. */
      readonly flowControlKey: string
    }
  | {
      /** ID of the schedule to explain. */
      readonly scheduleId: string
    }
  | {
      /** Deduplication ID to explain, with the message or schedule that holds it. */
      readonly deduplicationId: string
    }

const subjects: Readonly<Record<string, (queue: QueueEngine, name: string) => string>> = {
  queue: queueText,
  flowControlKey: flowControlText,
  scheduleId: scheduleText,
  deduplicationId: deduplicationText,
}

export const explainedBy: readonly string[] = Object.keys(subjects)

function checkExplained(what: ExplainTarget): void {
  if (typeof what === 'object' && what !== null) checkOptionNames('queue.explain()', what, explainedBy)
}

/**
 * Explains the state of a message or a resource as text. A resource is a FIFO queue, a flow-control key, a schedule or
 * a deduplication ID.
 */
export function explain(queue: QueueEngine, what: string | ExplainTarget): string {
  if (typeof what === 'string') return messageText(queue, what)
  checkExplained(what)
  const [[subject, name] = [], ...more] = Object.entries(what ?? {})
  const tell = subject === undefined || !Object.hasOwn(subjects, subject) ? undefined : subjects[subject]
  if (tell !== undefined && more.length === 0 && typeof name === 'string') return tell(queue, name)
  throw new TypeError(
    `queue.explain(): the argument must be the ID of a message or an object with one of ${explainedBy.join(', ')}. For example, explain({ queue: 'orders' }).`,
  )
}
