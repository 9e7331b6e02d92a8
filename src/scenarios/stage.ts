import type { Sandbox } from '../sandbox/sandbox.js'
import type { Expectation } from './expectations.js'

/** Context in which steps run. */
export interface StepContext {
  readonly sandbox: Sandbox
  /** IDs of the messages that were published under a name. */
  readonly messages: Map<string, string[]>
  /** Evaluates expectations in the middle of a scenario. */
  expect(list: readonly Expectation[]): void
  /** Returns the place of the running step, for messages about unused rules. */
  lineOf(): string
  /** Reports a difference from what the scenario expects. */
  differs(sentence: string): void
}
