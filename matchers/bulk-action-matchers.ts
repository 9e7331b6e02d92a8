import { formatDuration } from '../src/kernel/duration.js'
import { plural } from '../src/kernel/plural.js'
import type { EntryOf } from '../src/kernel/traffic-log.js'
import type { BulkAction } from '../src/queue/bulk-actions.js'
import { bulkActionText } from '../src/report/describe.js'
import { plainText } from '../src/report/safe-text.js'
import { timeSeenFrom } from '../src/report/shown-times.js'
import { testOf } from './near-misses.js'
import { checkPattern, type FieldsOf, filterField, numberField, textField, wordField } from './pattern-fields.js'
import type { Or, Text } from './patterns.js'
import { evidenceOf, type MatcherInput } from './received.js'
import { callOf, type MatchOptions, search, timesOf, type Verdict } from './verdict.js'

/** Fields of a bulk action. All fields in the pattern must match. */
export interface BulkActionPattern {
  /** ID of the bulk action (`act_…`). */
  readonly actionId?: Text
  /** Records that the action cancels: `messages` or workflow `runs`. */
  readonly resource?: Or<EntryOf<'bulk-action'>['resource']>
  /** State of the action, in the spelling of the service. */
  readonly state?: Or<EntryOf<'bulk-action'>['state']>
  /** Number of records that matched the filters when the action was accepted. */
  readonly total?: Or<number>
  /**
   * Filters by the name of the query parameter: `{ label: 'a' }`, or `{ label: ['a', 'b'] }` for several values.
   * Filters that the pattern omits are ignored.
   */
  readonly filter?: Or<Readonly<Record<string, Text | readonly Text[]>>>
}

export const bulkActionFields: FieldsOf<BulkActionPattern, EntryOf<'bulk-action'>> = {
  actionId: textField((entry) => entry.actionId),
  resource: wordField(['messages', 'runs'], (entry) => entry.resource),
  state: wordField(['IN_PROGRESS', 'FINISHED'], (entry) => entry.state),
  total: numberField((entry) => entry.total),
  filter: filterField((entry) => entry.filter),
}

/** Searches bulk actions, each in its latest state. */
export function hasBulkAction(received: unknown, pattern: BulkActionPattern = {}, options?: MatchOptions): Verdict {
  const matcher = 'toHaveBulkAction'
  const evidence = evidenceOf(matcher, received, 'queue')
  checkPattern(matcher, pattern, bulkActionFields)
  return search({
    matcher,
    call: callOf(pattern, options),
    evidence,
    things: () => latestOf(evidence),
    test: testOf(bulkActionFields, { ...pattern }),
    candidate: (entry) => ({ seq: entry.seq, at: entry.at, title: bulkActionText(entry, evidence.redaction) }),
    times: timesOf(matcher, options),
    noun: ['bulk action', 'bulk actions'],
    hints: ([near]) => [...idHints(evidence), ...(near === undefined ? [] : progressHints(near.thing, evidence))],
  })
}

/** Returns the latest entry of each action. */
function latestOf(evidence: MatcherInput): Iterable<EntryOf<'bulk-action'>> {
  return new Map(evidence.ofType('bulk-action').map((entry) => [entry.actionId, entry])).values()
}

/** Returns a hint if messages were canceled one by one, because such a cancel is no bulk action. */
function idHints(evidence: MatcherInput): readonly string[] {
  if (evidence.ofType('bulk-action').length > 0) return []
  const canceled = evidence.ofType('message').filter(({ state }) => state === 'CANCEL_REQUESTED').length
  if (canceled === 0) return []
  return [
    `${plural(canceled, 'message was', 'messages were')} canceled by ID or with a FIFO queue, which is not a bulk action. Only a cancel by filters, or of everything, is one.`,
  ]
}

/** The lists of bulk actions of a sandbox or of one queue. A log has none. */
interface Listing {
  readonly bulkActions?: readonly BulkAction[]
}

/** Returns a hint if the nearest action is in progress: what it has done, and when it ends. */
function progressHints({ actionId, state }: EntryOf<'bulk-action'>, evidence: MatcherInput): readonly string[] {
  if (state === 'FINISHED') return []
  const { queues = [], workflows = [] } = evidence.received as Partial<Record<'queues' | 'workflows', Listing[]>>
  const listings = [evidence.received as Listing, ...queues, ...workflows]
  const action = listings.flatMap(({ bulkActions = [] }) => [...bulkActions]).find(({ id }) => id === actionId)
  const now = evidence.context.now?.()
  const { processed, total, endsAt } = action ?? {}
  // The list of a remote sandbox does not have the time of the end.
  if (endsAt === undefined || now === undefined) return []
  const left = formatDuration(Math.max(0, endsAt - now))
  return [
    `Bulk action ${plainText(actionId)} is in progress until ${timeSeenFrom(endsAt, now)}, with ${processed} of ${total} processed. Await sandbox.clock.advance('${left}') first.`,
  ]
}
