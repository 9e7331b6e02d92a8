import { type Duration, milliseconds } from '../../../../src/kernel/duration.js'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import { checkedHistory } from '../../../../src/workflow/history-file.js'
import type { RunHistory } from '../../../../src/workflow/run-history.js'
import type { ReplayedApp } from './replay-delivery.js'
import { Prefix, type PrefixDifference, type PrefixTrial } from './replay-prefix.js'
import { RecordedSteps } from './replayed-history.js'

/** Something that a run which is under way could not go on with. */
export interface Incompatibility {
  /** Entries of the list that was delivered. */
  readonly prefix: number
  /** What the history says comes next. */
  readonly expected: string
  /** What the code did instead. */
  readonly actual: string
  /** The same as a sentence: where, what was recorded, what the code does. */
  readonly message: string
  /** The SDK's words, where it refuses the list. */
  readonly sdkError?: string
}

/** A list that is answered otherwise than recorded, perhaps only because of what the history or the sandbox lacks. */
export interface InconclusivePrefix {
  readonly prefix: number
  readonly reason: string
}

/** The result of `replay()`. */
export interface ReplayResult {
  /** Lists that were delivered. */
  readonly prefixes: number
  readonly incompatible: readonly Incompatibility[]
  /** Where the history has too little to tell. */
  readonly unchecked: readonly InconclusivePrefix[]
}

/** Options of `replay()`. */
export interface ReplayOptions {
  /** Host time that the app may take for one delivery. Default 2 s. */
  readonly timeout?: Duration
}

/** Lists that may hang: a body that waits for what is not there may be one of them. */
const maxHung = 2

/** While it runs, `fetch`, the environment and the console of the process are its own. */
let turn: Promise<unknown> = Promise.resolve()

/**
 * Delivers every prefix of a history to today's code and tells where it would go on otherwise. Nothing that the code
 * submits is accepted, and no host is reachable but what the app registers in the sandbox. Several replays at the same
 * time take turns.
 * @param app serves the workflow in a sandbox, at the url of the history
 * @throws TypeError for what is no history, and when nothing is served at its url; what the app throws while it is set up
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
      unchecked.push({ prefix, reason: 'The code did not answer before; this list and those after it were left out.' })
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
  throw new TypeError(`replay() takes a timeout of 1 ms or more, such as '2s', got ${JSON.stringify(timeout)}.`)
}

function checked(history: RunHistory, app: ReplayedApp): RunHistory {
  const isHistory = typeof history === 'object' && history !== null && 'format' in history
  if (!isHistory || typeof app !== 'function') {
    throw new TypeError(
      'replay() takes a history, as sandbox.workflow.getRun(runId).history() gives it, and a function that serves the app.',
    )
  }
  return checkedHistory(history)
}
