import type { Sandbox } from '../sandbox/sandbox.js'
import type { Expectation } from './expectations.js'

/** Where steps are performed. */
export interface StepContext {
  readonly sandbox: Sandbox
  /** Ids of the messages that were published under a name. */
  readonly messages: Map<string, string[]>
  /** Judges expectations on the way. */
  expect(list: readonly Expectation[]): void
  /** The place of the running step, for rules that never strike. */
  lineOf(): string
  /** Something that is not as the scenario wants it. */
  differs(sentence: string): void
}
