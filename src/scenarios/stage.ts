import type { Sandbox } from '../sandbox/sandbox.js'
import type { Expectation } from './expectations.js'

/** State of a play that its steps use. */
export interface StepContext {
  readonly sandbox: Sandbox
  /** IDs of the messages of each publish step, by the name of the step. */
  readonly messages: Map<string, string[]>
  /** Evaluates the expectations of an `expect` step. */
  expect(list: readonly Expectation[]): void
  /** Returns the location of the running step, for messages about unused fault rules. */
  lineOf(): string
  /** Adds a failed check, because a response differs from what the step expects. */
  differs(sentence: string): void
}
