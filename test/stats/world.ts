import { type Bytes, latin1, utf8 } from '../../src/kernel/bytes.js'
import { Clock } from '../../src/kernel/clock.js'
import { type AttemptOutcome, TrafficLog } from '../../src/kernel/traffic-log.js'
import { locator, sandboxUrlsOf } from '../../src/protocol/address.js'
import { type DialectName, dialectOf } from '../../src/protocol/dialect.js'
import { createGateway } from '../../src/protocol/gateway.js'
import type { RawResponse, Service } from '../../src/protocol/service.js'
import { type StatsServiceOptions, statsService } from '../../src/stats/rest/stats-endpoints.js'
import { type StatisticsOptions, Stats } from '../../src/stats/statistics.js'

export const userId = '99a4c327-31f0-490f-a594-043ade84085a'
export const indexId = '1b671a64-40d5-491e-99b0-da01ff1f3341'
const credentials = `Basic ${btoa('ada@example.com:key-1')}`

/** The statistics service alone, over a traffic log that the test writes. */
export function statsWorld(
  startAt: string,
  options: Partial<StatisticsOptions> = {},
  words: DialectName = 'neutral',
  account: StatsServiceOptions = { user: 'ada@example.com', key: 'key-1' },
) {
  const clock = new Clock({ startAt: Date.parse(startAt) })
  const traffic = new TrafficLog({ now: () => clock.now() })
  const statistics = new Stats({ traffic, now: () => clock.now(), ...options })
  const service = statsService(statistics, account) as unknown as Service
  const exchange = createGateway({
    locate: locator(sandboxUrlsOf()),
    dialect: dialectOf(words),
    serviceAt: () => service,
    clock,
    traffic,
  })
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET'): RawResponse =>
    exchange({
      method,
      url: `https://mgmt.test${path}`,
      headers: Object.entries({ authorization: credentials, ...headers }),
      body: () => latin1(''),
    }) as RawResponse
  // biome-ignore lint/suspicious/noExplicitAny: responses are compared field by field
  const get = (path: string): any => JSON.parse(ask(path).body as string)
  let messages = 0
  /** Adds a message that is published and attempted now, with one attempt per outcome. */
  const deliver = (...states: AttemptOutcome['state'][]): void => {
    const messageId = `msg_${++messages}`
    traffic.append(publishedMessage(messageId, clock.now()))
    states.forEach((state, retried) => {
      const attempt = traffic.append({
        type: 'attempt',
        messageId,
        kind: 'message',
        url: 'https://shop.test/orders',
        method: 'POST',
        retried,
        maxRetries: 3,
        reason: '',
        headers: [],
        body: utf8('12345'),
      })
      const status = state === 'DELIVERED' ? 200 : 500
      traffic.complete(attempt, { outcome: { at: clock.now(), status, headers: [], body: utf8('ok!'), state } })
    })
  }
  return { clock, traffic, statistics, ask, get, deliver }
}

function publishedMessage(messageId: string, notBefore: number) {
  return {
    type: 'published' as const,
    messageId,
    kind: 'message' as const,
    url: 'https://shop.test/orders',
    method: 'POST',
    headers: [],
    body: '12345' as Bytes,
    maxRetries: 3,
    notBefore,
    deduplicated: false,
  }
}

export function sum(points: readonly { y: number }[]): number {
  return points.reduce((total, point) => total + point.y, 0)
}
