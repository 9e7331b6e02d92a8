import type { RawResponse } from '../../../../src/protocol/service.js'
import type { OwnedTenant } from './owned-tenant.js'

/**
 * Returns a stream with the chunks of `body`. The stream passes on a chunk only after everything that the sandbox has
 * recorded is saved. The stream fails when this node loses the tenant.
 */
export function committedStream(
  body: ReadableStream<Uint8Array>,
  own: Pick<OwnedTenant, 'commit' | 'signal'>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  const stop = new AbortController()
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const lost = (): void => {
        controller.error(own.signal.reason)
        cancel()
      }
      if (own.signal.aborted) lost()
      else own.signal.addEventListener('abort', lost, { signal: stop.signal })
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) await own.commit()
        if (own.signal.aborted) return
        if (done) controller.close()
        else controller.enqueue(value)
        if (done) stop.abort()
      } catch (error) {
        stop.abort()
        controller.error(error)
        cancel()
      }
    },
    cancel() {
      stop.abort()
      cancel()
    },
  })
}

export function withCommits(answer: RawResponse, own: Pick<OwnedTenant, 'commit' | 'signal'>): RawResponse {
  return answer.body instanceof ReadableStream ? { ...answer, body: committedStream(answer.body, own) } : answer
}
