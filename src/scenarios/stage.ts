import type { Sandbox } from '../sandbox/sandbox.js'
import type { Expectation } from './expectations.js'

/** State of a play that its steps use. */
export interface StepContext {
  readonly sandbox: Sandbox
  /** IDs of the messages that each publish step has published, by the name of the step. */
  readonly messages: Map<string, string[]>
  /** Evaluates the expectations of an `expect` step. */
  expect(list: readonly Expectation[]): void
  /** Returns the location of the current step in the scenario. Messages about unused fault rules contain it. */
  lineOf(): string
  /** Adds a failed check for a response that differs from the expectation of the step. */
  differs(sentence: string): void
}
