import type { History } from '../src/workflow/history.js'
import { checkedHistory } from '../src/workflow/history-file.js'
import { RecordedSteps } from './history.js'
import type { ReplayedApp } from './replay-delivery.js'
import { type Difference, Prefix, type PrefixVerdict, type Trial } from './replay-prefix.js'

/** Something that a run which is under way could not go on with. */
export interface Incompatibility {
  /** Entries of the list that was delivered. */
  readonly prefix: number
  /** What the history says comes next. */
  readonly expected: string
  /** What the code did instead. */
  readonly actual: string
  /** The same as a sentence: where, what was recorded, what the code does. */
  readonly sentence: string
  /** The SDK's words, where it refuses the list. */
  readonly refusal?: string
}

/** A list that is answered otherwise than recorded, perhaps only because of what the history or the sandbox lacks. */
export interface Unchecked {
  readonly prefix: number
  readonly reason: string
}

export interface Replay {
  /** Lists that were delivered. */
  readonly prefixes: number
  readonly incompatible: readonly Incompatibility[]
  /** Where the history has too little to tell. */
  readonly unchecked: readonly Unchecked[]
}

export interface ReplayOptions {
  /** Milliseconds of real time that the app may take for one delivery. Default 2,000. */
  readonly patience?: number
}

/** Lists that may hang: a body that waits for what is not there may be one of them. */
const mostHung = 2

/** While it runs, `fetch`, the environment and the console of the process are its own. */
let turn: Promise<unknown> = Promise.resolve()

/**
 * Delivers every prefix of a history to today's code and tells where it would go on otherwise. Nothing that the code
 * submits is accepted, and no host is reachable but what the app registers in the sandbox. Several replays at the same
 * time take turns.
 * @param app serves the workflow in a sandbox, at the url of the history
 * @throws TypeError for what is no history, and when nothing is served at its url; what the app throws while it is set up
 * @example expect((await replay(history, ({ destinations }) => destinations.on(url, POST))).incompatible).toEqual([])
 */
export function replay(history: History, app: ReplayedApp, options: ReplayOptions = {}): Promise<Replay> {
  const mine = turn.then(() => replayed(history, app, options))
  turn = mine.catch(() => {})
  return mine
}

async function replayed(given: History, app: ReplayedApp, { patience = 2000 }: ReplayOptions): Promise<Replay> {
  const history = checked(given, app, patience)
  const trial: Trial = { history, steps: new RecordedSteps(history), app, patience }
  const verdicts = new Map<number, { readonly prefix: Prefix; readonly verdict: PrefixVerdict }>()
  const left: Unchecked[] = []
  let hung = 0
  for (const [at, { callType }] of history.entries.entries()) {
    if (at > 0 && callType !== 'step') continue
    if (hung === mostHung) {
      left.push({
        prefix: at + 1,
        reason: 'The code did not answer before; this list and those after it were left out.',
      })
      break
    }
    const prefix = new Prefix(trial, at)
    const verdict = await prefix.verdict()
    if (verdict.is === 'different' && verdict.difference.kind === 'hung') hung++
    verdicts.set(at, { prefix, verdict })
  }
  const incompatible: Incompatibility[] = []
  const unchecked: Unchecked[] = []
  for (const [at, { prefix, verdict }] of verdicts) {
    const sure = judged(prefix, verdict, trial, verdicts)
    if (sure.is === 'unchecked') unchecked.push({ prefix: at + 1, reason: sure.reason })
    if (sure.is === 'different') incompatible.push({ prefix: at + 1, ...shown(sure.difference) })
  }
  return { prefixes: verdicts.size, incompatible, unchecked: [...unchecked, ...left] }
}

function shown({ expected, actual, sentence, refusal }: Difference): Omit<Incompatibility, 'prefix'> {
  return { expected, actual, sentence, ...(refusal !== undefined && { refusal }) }
}

/**
 * The body of a step runs, but what it needs may not be there, and code around it may hide that it failed. The list with
 * its recorded result tells: if the code goes on from there as recorded, only the body was wrong.
 */
function judged(
  { expected }: Prefix,
  verdict: PrefixVerdict,
  { steps }: Trial,
  verdicts: ReadonlyMap<number, { readonly prefix: Prefix; readonly verdict: PrefixVerdict }>,
): PrefixVerdict {
  if (verdict.is !== 'different' || verdict.difference.kind === 'refused' || !Array.isArray(expected)) return verdict
  const [step] = expected
  if (expected.length !== 1 || step.stepType !== 'Run' || step.targetStep !== undefined) return verdict
  const { kind, sentence, reachedOut } = verdict.difference
  const perhaps: PrefixVerdict = {
    is: 'unchecked',
    reason: `${sentence} The body of '${step.stepName}' may have failed.`,
  }
  const result = steps.resultOf(step.stepId)
  const behind = result === undefined ? undefined : verdicts.get(result)
  if (behind === undefined) return reachedOut ? perhaps : verdict
  if (behind.verdict.is === 'unchecked') return perhaps
  if (behind.verdict.is === 'different') return verdict
  // Code that ends before its last step ends behind it, too.
  const isTold = kind !== 'ended' || !(behind.prefix.expected === 'end' || behind.prefix.expected === undefined)
  return isTold ? { is: 'same' } : reachedOut ? perhaps : verdict
}

function checked(history: History, app: unknown, patience: unknown): History {
  const isHistory = typeof history === 'object' && history !== null && 'format' in history
  if (!isHistory || typeof app !== 'function') {
    throw new TypeError(
      'replay() takes a history, as historyOf(sandbox, runId) gives it, and a function that serves the app.',
    )
  }
  if (typeof patience !== 'number' || !(patience > 0 && patience <= 1e8))
    throw new TypeError('replay() takes { patience } as milliseconds from 1.')
  return checkedHistory(history)
}
