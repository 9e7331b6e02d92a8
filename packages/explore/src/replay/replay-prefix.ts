import type { AttemptOutcome } from '../../../../src/kernel/traffic-log.js'
import { stepOfEntry } from '../../../../src/workflow/history-file.js'
import {
  isHidden,
  type RunHistory,
  type RunHistoryEntry,
  type StepIdentity,
} from '../../../../src/workflow/run-history.js'
import { headerEndingIn } from '../crash/run-delivery.js'
import { refusalOf } from '../crash/run-requests.js'
import { describeStep, meaningOf, nameExpected, placeOf } from './describe-step.js'
import { probeOf, replacements, withStandIn } from './replacements.js'
import { type Delivered, type DeliveryResult, deliver, listOf, messageOf, type ReplayedApp } from './replay-delivery.js'
import type { RecordedSteps } from './replayed-history.js'

/** Difference between the recorded history and what the code does after a list of steps. */
export interface PrefixDifference {
  readonly expected: string
  readonly actual: string
  readonly sentence: string
  /** Error message of the SDK, if the SDK rejects the list. */
  readonly refusal?: string
  readonly kind: 'refused' | 'failed' | 'ended' | 'other' | 'hung'
}

/** Verdict about one list. `unchecked` means that the code differs, perhaps only because the history lacks a value. */
export type PrefixVerdict =
  | { readonly is: 'same' }
  | { readonly is: 'different'; readonly difference: PrefixDifference }
  | { readonly is: 'unchecked'; readonly reason: string }

const same: PrefixVerdict = { is: 'same' }

/** What a replay needs: the history, the app, and the timeout of a delivery. */
export interface PrefixTrial {
  readonly history: RunHistory
  readonly steps: RecordedSteps
  readonly app: ReplayedApp
  /** Timeout of a delivery, in milliseconds of host time. */
  readonly patience: number
}

/**
 * The steps of the history up to one entry. They are delivered as a list, and if necessary again with replaced values.
 */
export class Prefix {
  readonly #trial: PrefixTrial
  readonly #at: number
  readonly #expected: DeliveryResult | undefined
  /** Whether a delivery did not end, because of the handler or the body of a step. */
  hasHung = false

  constructor(trial: PrefixTrial, at: number) {
    this.#trial = trial
    this.#at = at
    this.#expected = trial.steps.followers(at)
  }

  async verdict(): Promise<PrefixVerdict> {
    const entries = this.#trial.history.entries.slice(0, this.#at + 1)
    const difference = await this.#differenceOf(entries)
    if (difference === undefined) return same
    const lacking = entries.flatMap(({ unknown }, at) => (unknown === undefined ? [] : [at]))
    if (lacking.length > 0 && difference.kind !== 'hung') {
      const verdict = await this.#withOthers(entries, lacking, difference)
      if (verdict !== undefined) return verdict
    }
    const hidden = Object.entries(this.#trial.history.headers ?? {}).filter(([, value]) => isHidden(value))
    if (hidden.length > 0 && (difference.kind === 'failed' || difference.kind === 'ended'))
      return unchecked(difference, `headers that are hidden: ${hidden.map(([name]) => name).join(', ')}`)
    return { is: 'different', difference }
  }

  /**
   * Delivers the list again, with replacements for the values that the history lacks. Returns a verdict if the
   * replacements explain the difference. A value that may have been undefined makes the list `unchecked` if any
   * replacement changes the result.
   */
  async #withOthers(
    entries: readonly RunHistoryEntry[],
    lacking: readonly number[],
    difference: PrefixDifference,
  ): Promise<PrefixVerdict | undefined> {
    const isPerhapsThere = lacking.every((at) => entries[at]!.unknown === 'maybe-undefined')
    for (const standIn of replacements) {
      const other = await this.#differenceOf(entries.map((entry, at) => withStandIn(entry, at, standIn)))
      if (other === undefined && !isPerhapsThere) return same
      if (isPerhapsThere && other?.actual !== difference.actual) return unchecked(difference, this.#named(lacking))
    }
    return isPerhapsThere ? undefined : unchecked(difference, this.#named(lacking))
  }

  async #differenceOf(entries: readonly RunHistoryEntry[]): Promise<PrefixDifference | undefined> {
    const delivered = await this.#deliver(entries)
    this.hasHung ||= delivered.outcome === undefined
    const difference = this.#difference(delivered)
    return difference !== undefined && (await this.#isOnlyBody(entries, delivered)) ? undefined : difference
  }

  #deliver(entries: readonly RunHistoryEntry[]): Promise<Delivered> {
    const { history, app, patience } = this.#trial
    return deliver(history, listOf(entries), this.#at === 0, app, patience)
  }

  /**
   * Returns whether only the body of a step fails. The body may need data that a replay does not have, and the code
   * around it may hide the error. So this method delivers a list that ends with an unknown step. No body runs then, and
   * the SDK's error names the step in the code.
   */
  async #isOnlyBody(entries: readonly RunHistoryEntry[], { done, outcome }: Delivered): Promise<boolean> {
    if (outcome !== undefined && refusalOf(outcome) !== undefined) return false
    const expected = this.#expected
    if (expected === 'nothing') return false
    if (!Array.isArray(expected)) {
      // After the end of the history any step is correct, but the code must reach that point.
      const { steps } = this.#trial
      const next = { stepId: steps.highest(this.#at) + 1, stepName: '', stepType: 'Run', concurrent: 1 }
      return (await this.#nameAt([...entries, probeOf(next)])) !== undefined
    }
    const [step, ...others] = expected as readonly StepIdentity[]
    const isSubmitted = Array.isArray(done) && done.some(({ stepId }) => stepId === step!.stepId)
    if (others.length > 0 || step!.stepType !== 'Run' || isSubmitted) return false
    const carried = this.#trial.steps.at(this.#at)
    const asked =
      carried?.targetStep === undefined ? [...entries, probeOf(step!)] : [...entries.slice(0, -1), probeOf(carried)]
    return (await this.#nameAt(asked)) === step!.stepName
  }

  /**
   * Delivers a list whose last step is unknown.
   * @returns the step name that the code has, from the SDK's error message
   */
  async #nameAt(entries: readonly RunHistoryEntry[]): Promise<string | undefined> {
    const { outcome } = await this.#deliver(entries)
    return outcome === undefined ? undefined : nameExpected(messageOf(outcome))
  }

  #named(lacking: readonly number[]): string {
    const { entries } = this.#trial.history
    const names = lacking.map((at) => {
      const name = stepOfEntry(entries[at]!, at)?.stepName
      return at === 0 ? 'the payload' : name === undefined ? `entry ${at + 1}` : `the result of '${name}'`
    })
    return `values that the history lacks: ${names.join(', ')}`
  }

  #difference({ done, outcome }: Delivered): PrefixDifference | undefined {
    if (outcome === undefined) {
      const actual = `no response within ${this.#trial.patience} ms`
      return { ...this.#told(actual, 'the code does not respond'), kind: 'hung' }
    }
    if (outcome.status !== 200) return this.#refused(outcome)
    // After the end of the history, any step is correct.
    if (this.#expected === undefined || this.#expected === 'end' || describeStep(this.#expected) === describeStep(done))
      return undefined
    const kind = done === 'end' ? 'ended' : 'other'
    return { ...this.#told(describeStep(done), `the code continues with ${describeStep(done)}`), kind }
  }

  #refused(outcome: AttemptOutcome): PrefixDifference | undefined {
    const refusal = refusalOf(outcome)
    if (refusal === undefined && this.#isOfBody(outcome)) return undefined
    const actual = `responded ${outcome.status}: ${refusal ?? messageOf(outcome)}`
    if (refusal === undefined) return { ...this.#told(actual, `the code ${actual}`), kind: 'failed' }
    return { ...this.#told(actual, meaningOf(messageOf(outcome)) ?? `the code ${actual}`), refusal, kind: 'refused' }
  }

  /** Returns whether the body of the recorded step threw the error. The body may need data that no history contains. */
  #isOfBody({ headers }: AttemptOutcome): boolean {
    const expected = this.#expected
    // The run also failed in production, after the last list of its history.
    if (expected === undefined && this.#trial.history.state === 'RUN_FAILED') return true
    const step = headerEndingIn(headers, 'error-step-name')
    if (step === undefined) return false
    return !Array.isArray(expected) || expected.some(({ stepName }: StepIdentity) => headerText(stepName) === step)
  }

  #told(actual: string, does: string): Pick<PrefixDifference, 'expected' | 'actual' | 'sentence'> {
    const expected = this.#expected
    const place = placeOf(this.#trial.steps.at(this.#at))
    const recorded =
      expected === undefined ? 'the recorded run continues' : `${describeStep(expected)} comes next in the history`
    return {
      expected: expected === undefined ? 'any step, or the end' : describeStep(expected),
      actual,
      sentence: `${place} ${recorded}, but ${does}.`,
    }
  }
}

function unchecked({ sentence }: PrefixDifference, why: string): PrefixVerdict {
  return { is: 'unchecked', reason: `${sentence} The difference may depend on ${why}.` }
}

/** Formats a step name as the SDK writes it into a header. */
function headerText(stepName: string): string {
  return stepName.replace(/[\x00-\x1f\x7f]+/g, ' ').trim()
}
