import type { Bytes } from '../kernel/bytes.js'
import type { Message } from '../queue/message/message.js'
import type { RunEntry } from './run-list.js'

/**
 * Index of the entries and steps of a large run. Each query first adds the entries and steps that are new since the
 * previous query.
 */
export class RunIndex<Step extends { readonly stepId: number }> {
  readonly #submitted = new Map<Bytes, Message>()
  /**
   * Number of entries that are already indexed. It starts at 1, because the first entry is the payload and not a step.
   */
  #looked = 1
  readonly #records = new Map<number, Step>()

  /** Returns the first message that submitted a step with this body. */
  submitted(entries: readonly RunEntry[], body: Bytes): Message | undefined {
    for (; this.#looked < entries.length; this.#looked++) {
      const { message, callType } = entries[this.#looked]!
      if (callType === 'step' && !this.#submitted.has(message.body)) this.#submitted.set(message.body, message)
    }
    return this.#submitted.get(body)
  }

  record(steps: readonly Step[], stepId: number): Step | undefined {
    for (let at = this.#records.size; at < steps.length; at++) this.#records.set(steps[at]!.stepId, steps[at]!)
    return this.#records.get(stepId)
  }
}
