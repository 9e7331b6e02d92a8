import { utf8 } from '../../src/kernel/bytes.js'
import type { AttemptOutcome, EntryOf, PublishedEntry } from '../../src/kernel/traffic-log.js'
import { Traffic } from '../../src/report/traffic-view.js'
import { none, publishedOrder, start, TestTraffic } from '../report/story.js'

/** A queue for matchers, whose traffic log the test writes. */
export function testQueue(): { traffic: TestTraffic } {
  const traffic = new TestTraffic()
  new Traffic(traffic, { seed: 7, now: () => traffic.time.now })
  return { traffic }
}

export function publish(traffic: TestTraffic, more: Partial<PublishedEntry> = {}): EntryOf<'published'> {
  return traffic.append({ ...publishedOrder, notBefore: traffic.time.now, ...more })
}

export function attempt(
  traffic: TestTraffic,
  published: EntryOf<'published'>,
  retried: number,
  outcome?: Partial<AttemptOutcome>,
): EntryOf<'attempt'> {
  const entry = traffic.append(
    {
      type: 'attempt',
      messageId: published.messageId,
      kind: published.kind,
      url: published.url,
      method: published.method,
      retried,
      maxRetries: published.maxRetries,
      reason: retried === 0 ? 'first attempt' : `retry ${retried} of ${published.maxRetries}`,
      headers: [...published.headers, ['Upstash-Message-Id', published.messageId]],
      body: published.body,
    },
    published.seq,
  )
  if (outcome !== undefined) {
    const at = traffic.time.now
    traffic.complete(entry, { outcome: { at, status: 200, headers: [], body: none, state: 'DELIVERED', ...outcome } })
  }
  return entry
}

export function retryIn(seconds: number, status = 503): Partial<AttemptOutcome> {
  const at = (now: number): number => now + seconds * 1000
  return { status, state: 'RETRY', next: { at: at(start), delayMs: seconds * 1000, reason: 'default back-off' } }
}

/** Increments the entry number, as other entries of a longer test would. */
export function until(traffic: TestTraffic, seq: number): void {
  while (traffic.size < seq - 1) traffic.append({ type: 'keyspace', event: 'set', key: utf8('k') })
}
