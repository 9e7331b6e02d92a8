import { type Duration, milliseconds } from '../../../../src/kernel/duration.js'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import { checkedHistory } from '../../../../src/workflow/history-file.js'
import type { RunHistory } from '../../../../src/workflow/run-history.js'
import type { ReplayedApp } from './replay-delivery.js'
import { Prefix, type PrefixDifference, type PrefixTrial } from './replay-prefix.js'
import { RecordedSteps } from './replayed-history.js'

/** A point of the history at which today's code continues differently, so a run in progress could not continue. */
export interface Incompatibility {
  /** Number of entries in the delivered list of steps. */
  readonly prefix: number
  /** Next step that the history recorded. */
  readonly expected: string
  /** What the code did instead of the recorded step. */
  readonly actual: string
  /** Message that names the point in the workflow run, the recorded step, and the step of the code. */
  readonly message: string
  /** Error message of the SDK, if the SDK rejects the list. */
  readonly sdkError?: string
}

/** A list of steps without a clear result: the code continues differently, but perhaps only because data is missing. */
export interface InconclusivePrefix {
  /** Number of entries of the delivered list. */
  readonly prefix: number
  /** Reason why the list could not be checked, as a message. */
  readonly reason: string
}

/** The result of `replay()`. */
export interface ReplayResult {
  /** Number of delivered lists. */
  readonly prefixes: number
  /** Points at which a workflow run in progress could not continue with today's code. */
  readonly incompatible: readonly Incompatibility[]
  /** Lists for which the history or the sandbox lacks data. */
  readonly unchecked: readonly InconclusivePrefix[]
}

/** Options of `replay()`. */
export interface ReplayOptions {
  /** Timeout of one delivery, as host time. Default 2 s. */
  readonly timeout?: Duration
}

/**
 * A replay ends after this many lists without a response. The first such list does not end the
 * replay, because the cause may only be missing data.
 */
const maxHung = 2

/**
 * End of the last replay. Replays run one after another, because each one replaces `fetch`, the environment and the
 * console.
 */
let turn: Promise<unknown> = Promise.resolve()

/**
 * Delivers every prefix of a run history to today's code, as a list of steps, and reports where the code continues
 * differently. The sandbox accepts no submission. Only hosts that the app registers in the sandbox are reachable.
 * Concurrent replays run one after another.
 * @param app serves the workflow in a sandbox, at the URL of the history
 * @throws TypeError if the history is invalid, or if the app serves nothing at its URL. Errors of the app's setup are
 * thrown unchanged
 * @example
 * const { incompatible } = await replay(history, ({ destinations }) => {
 *   destinations.on('https://shop.test/api/order', POST)
 * })
 * expect(incompatible).toEqual([])
 */
export function replay(history: RunHistory, app: ReplayedApp, options: ReplayOptions = {}): Promise<ReplayResult> {
  checkOptionNames('replay()', options, { timeout: true })
  const mine = turn.then(() => replayed(history, app, options))
  turn = mine.catch(() => {})
  return mine
}

async function replayed(given: RunHistory, app: ReplayedApp, { timeout = '2s' }: ReplayOptions): Promise<ReplayResult> {
  const history = checked(given, app)
  const patience = patienceOf(timeout)
  const trial: PrefixTrial = { history, steps: new RecordedSteps(history), app, patience }
  const incompatible: Incompatibility[] = []
  const unchecked: InconclusivePrefix[] = []
  let prefixes = 0
  let hung = 0
  for (const [at, { callType }] of history.entries.entries()) {
    if (at > 0 && callType !== 'step') continue
    const prefix = at + 1
    if (hung === maxHung) {
      unchecked.push({
        prefix,
        reason: 'The code did not respond to earlier lists, so this list and all later lists were skipped.',
      })
      break
    }
    prefixes++
    const list = new Prefix(trial, at)
    const verdict = await list.verdict()
    if (list.hasHung) hung++
    if (verdict.is === 'unchecked') unchecked.push({ prefix, reason: verdict.reason })
    if (verdict.is === 'different') incompatible.push({ prefix, ...shown(verdict.difference) })
  }
  return { prefixes, incompatible, unchecked }
}

function shown({ expected, actual, sentence, refusal }: PrefixDifference): Omit<Incompatibility, 'prefix'> {
  return { expected, actual, message: sentence, ...(refusal !== undefined && { sdkError: refusal }) }
}

function patienceOf(timeout: Duration): number {
  const patience = milliseconds(timeout)
  if (patience > 0 && patience <= 1e8) return patience
  throw new TypeError(`replay(): timeout must be 1 ms or more, such as '2s' (got ${JSON.stringify(timeout)}).`)
}

function checked(history: RunHistory, app: ReplayedApp): RunHistory {
  const isHistory = typeof history === 'object' && history !== null && 'format' in history
  if (!isHistory || typeof app !== 'function') {
    throw new TypeError(
      'replay(): the arguments must be a history and a function that serves the app. Get the history from sandbox.workflow.getRun(runId).history().',
    )
  }
  return checkedHistory(history)
}
