import { checkOptionNames } from '../../kernel/nearest-name.js'
import type { QueueEngine } from '../queue-engine.js'
import { messageText } from './message-text.js'
import { scheduleText } from './schedule-text.js'
import { deduplicationText, flowControlText, queueText } from './subjects.js'

/** What can be explained beside a message: one of these by its name. */
export type ExplainTarget =
  | { readonly queue: string }
  | { readonly flowControlKey: string }
  | { readonly scheduleId: string }
  | { readonly deduplicationId: string }

const subjects: Readonly<Record<string, (queue: QueueEngine, name: string) => string>> = {
  queue: queueText,
  flowControlKey: flowControlText,
  scheduleId: scheduleText,
  deduplicationId: deduplicationText,
}

/** The words that `explain()` takes. */
export const explainedBy: readonly string[] = Object.keys(subjects)

/** @throws TypeError with the nearest name for a subject that there is none of */
function checkExplained(what: ExplainTarget): void {
  if (typeof what === 'object' && what !== null) checkOptionNames('queue.explain()', what, explainedBy)
}

/** Why a message is where it is, or how something that messages wait for stands, in sentences that a person can act on. */
export function explain(queue: QueueEngine, what: string | ExplainTarget): string {
  if (typeof what === 'string') return messageText(queue, what)
  checkExplained(what)
  const [[subject, name] = [], ...more] = Object.entries(what ?? {})
  const tell = subject === undefined || !Object.hasOwn(subjects, subject) ? undefined : subjects[subject]
  if (tell !== undefined && more.length === 0 && typeof name === 'string') return tell(queue, name)
  throw new TypeError(
    `explain() takes the id of a message, or one of ${explainedBy.join(', ')} with its name: explain({ queue: 'orders' }).`,
  )
}
