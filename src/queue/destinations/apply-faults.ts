import { actionAt } from '../../faults/catalog.js'
import type { DeliveryFault } from '../../faults/fault.js'
import type { AttemptAction, AttemptFaultContext } from '../../faults/fault-context.js'
import type { Bytes } from '../../kernel/bytes.js'
import { noHeaders } from '../../kernel/http.js'
import type { RawOutcome } from '../message/message.js'
import type { Attempt } from '../message/message-entries.js'
import type { DeliveryContext } from './delivery-context.js'
import { rateLimitResponse } from './rate-limit.js'
import { rawResponse } from './raw-response.js'

// Applies faults to one attempt: the faults of fault rules, in the order of injection, and the fault of a script step.

type Maybe<T> = T | Promise<T>

/** Fault that is injected into an attempt. */
export interface AppliedFault {
  readonly fault: DeliveryFault
  readonly phase: 'before' | 'after'
  draw(below: number): number
  /** Logs the effect of the fault. */
  report?(effect: string): void
}

export interface AttemptInjectionContext {
  readonly attempt: Attempt
  readonly context: DeliveryContext
  /** Runs the layer below the faults: a handler, a script or the network. */
  underneath(context: DeliveryContext): Maybe<RawOutcome>
}

/** Outcome of a destination that never responds, so that the timeout ends the attempt. */
export const noResponse: RawOutcome = {
  status: 0,
  headers: noHeaders,
  body: '' as Bytes,
  error: 'no response',
  never: true,
}

/** Applies the faults as nested layers around the destination; the first fault is the outermost layer. */
export function applyFaults(
  encounters: readonly AppliedFault[],
  scene: AttemptInjectionContext,
  from = 0,
): Maybe<RawOutcome> {
  const met = encounters[from]
  if (met === undefined) return scene.underneath(scene.context)
  const { fault, phase } = met
  const { attempt, context } = scene
  const { task } = context
  const moment: AttemptFaultContext = {
    phase,
    timeout: context.timeout,
    nonRetryableHeader: attempt.message.settings.words.header('NonRetryable-Error'),
    draw: (below) => met.draw(below),
    tell: (effect) => met.report?.(effect),
    now: () => context.now(),
    sleep: (ms) => task.sleep(ms),
    onwards: () => applyFaults(encounters, scene, from + 1),
    answer: rawResponse,
    rateLimited: (given) => rateLimitResponse(given, context.now()),
    sign(wrong) {
      attempt.signing = wrong
    },
    play: (next) => applyFaults([{ fault: next, phase: 'before', draw: (below) => met.draw(below) }], scene),
    again(afterMs, run, when) {
      const copy = (given: DeliveryContext): Promise<void> =>
        run({ sleep: (ms) => given.task.sleep(ms), deliver: () => scene.underneath(given) })
      context.again(afterMs, copy, when)
    },
  }
  return meetingOf(fault).meets(fault, moment)
}

/** Whether a delivery with this fault reaches the destination, so that recorders must record it. */
export function arrives(fault: DeliveryFault): boolean {
  const met = meetingOf(fault)
  const last = met.next?.(fault)
  return last === undefined ? met.arrives === true : arrives(last)
}

function meetingOf(fault: DeliveryFault): AttemptAction<DeliveryFault> {
  return actionAt('queue.delivery', fault) as AttemptAction<DeliveryFault>
}
