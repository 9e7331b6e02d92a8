import { type Clock, letOutsideContinue } from '../kernel/clock.js'
import { terminated } from './broken-bodies.js'
import type { FaultyResponse as Answer } from './fault-context.js'

// Event streams that break off or stall. Each chunk of a stream is one event. Two kinds of chunks do not count as
// events: comments, and the first chunks, which confirm the subscription.

const notCounted = /^(?::|data: (?:p?subscribe,|"OK"\n))/

function counts(chunk: Uint8Array): boolean {
  return !notCounted.test(String.fromCharCode(...chunk.subarray(0, 20)))
}

type Body = ReadableStream<Uint8Array>

/** Sends `afterEvents` events, then breaks the stream. */
export function cutEvents(answer: Answer, afterEvents: number): Answer {
  return through(answer, (source) => {
    const reader = source.getReader()
    let events = 0
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (events >= afterEvents) {
            controller.error(terminated())
            return reader.cancel()
          }
          const { done, value } = await reader.read()
          if (done) return controller.close()
          if (counts(value)) events++
          controller.enqueue(value)
        },
        cancel: (reason) => reader.cancel(reason),
      },
      unhurried,
    )
  })
}

/**
 * Sends `afterEvents` events, then keeps later events back for `forMs` milliseconds, or forever without `forMs`. These
 * events are sent when the stall ends.
 */
export function stalledEvents(answer: Answer, afterEvents: number, forMs: number | undefined, clock: Clock): Answer {
  return through(answer, (source) => {
    const reader = source.getReader()
    let events = 0
    let silence: Promise<void> | undefined
    const fallSilent = (): Promise<void> =>
      new Promise((resolve) => {
        if (forMs === undefined) return
        clock.schedule(clock.now() + forMs, 'stall of an event stream', () => {
          resolve()
          letOutsideContinue(clock)
        })
      })
    // With `afterEvents` 0, the stall begins now, and not when the client reads the stream.
    if (afterEvents === 0) silence = fallSilent()
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (events >= afterEvents) await silence
          const { done, value } = await reader.read()
          if (done) return controller.close()
          if (counts(value) && ++events === afterEvents) silence = fallSilent()
          controller.enqueue(value)
        },
        cancel: (reason) => reader.cancel(reason),
      },
      unhurried,
    )
  })
}

/** Without a buffer, the stream reads its source only when the client reads the stream. */
const unhurried = { highWaterMark: 0 }

function through(answer: Answer, wrap: (source: Body) => Body): Answer {
  const { body } = answer
  return body === null || typeof body === 'string' ? answer : { ...answer, body: wrap(body) }
}
