import { describe, expect, test } from 'vitest'
import {
  type Dialect,
  dialectOf,
  neutralDialect,
  neutralManagementPath,
  ownHeader,
  upstashDialect,
} from '../../../../src/protocol/dialect.js'
import { DialectDetector } from '../../../../src/protocol/dialect-detector.js'

/** One row of the dialect tables: how a value is read from a dialect, its neutral and its real form. */
type Row = readonly [what: string, of: (words: Dialect) => unknown, neutral: unknown, real: unknown]

const store: Row[] = [
  ['encoding header', (v) => ownHeader('Encoding', v), 'Service-Encoding', 'Upstash-Encoding'],
  ['format', (v) => ownHeader('Response-Format', v), 'Service-Response-Format', 'Upstash-Response-Format'],
  ['sync token', (v) => ownHeader('sync-token', v).toLowerCase(), 'service-sync-token', 'upstash-sync-token'],
  ['telemetry', (v) => ownHeader('Telemetry-Sdk', v), 'Service-Telemetry-Sdk', 'Upstash-Telemetry-Sdk'],
  [
    'url in the environment',
    (v) => v.environment.storeUrl,
    ['SERVICE_REDIS_REST_URL'],
    ['UPSTASH_REDIS_REST_URL', 'KV_REST_API_URL'],
  ],
  [
    'token in the environment',
    (v) => v.environment.storeToken,
    ['SERVICE_REDIS_REST_TOKEN'],
    ['UPSTASH_REDIS_REST_TOKEN', 'KV_REST_API_TOKEN'],
  ],
  ['telemetry switch', (v) => v.environment.disableTelemetry, 'SERVICE_DISABLE_TELEMETRY', 'UPSTASH_DISABLE_TELEMETRY'],
  ['the SDK', (v) => v.packages.store, 'the SDK', '@upstash/redis'],
  ['the ratelimit library', (v) => v.packages.ratelimit, 'the ratelimit library', '@upstash/ratelimit'],
  ['the lock library', (v) => v.packages.lock, 'the lock library', '@upstash/lock'],
]

const queue: Row[] = [
  ['header prefix', (v) => v.headerPrefix, 'Service-', 'Upstash-'],
  ['query prefix', (v) => v.headerPrefix.toLowerCase(), 'service-', 'upstash-'],
  ['token in the query', (v) => v.queueTokenQuery, 'service_token', 'qstash_token'],
  ['issuer', (v) => v.issuer, 'Service', 'Upstash'],
  ['user agent', (v) => v.userAgent, 'Service-Queue', 'Upstash-QStash'],
  ['queue SDK', (v) => v.packages.queue, 'queue SDK', '@upstash/qstash'],
  ['workflow SDK', (v) => v.packages.workflow, 'workflow SDK', '@upstash/workflow'],
  ['Python SDK', (v) => v.packages.python, 'Python SDK', 'qstash'],
  ['Go SDK', (v) => v.packages.go, 'Go SDK', 'qstash-go'],
  ['QUEUE_URL', (v) => v.environment.queueUrl, 'QUEUE_URL', 'QSTASH_URL'],
  ['QUEUE_TOKEN', (v) => v.environment.queueToken, 'QUEUE_TOKEN', 'QSTASH_TOKEN'],
  [
    'current key',
    (v) => v.environment.queueCurrentSigningKey,
    'QUEUE_CURRENT_SIGNING_KEY',
    'QSTASH_CURRENT_SIGNING_KEY',
  ],
  ['next key', (v) => v.environment.queueNextSigningKey, 'QUEUE_NEXT_SIGNING_KEY', 'QSTASH_NEXT_SIGNING_KEY'],
  ['region', (v) => v.environment.queueRegion, 'QUEUE_REGION', 'QSTASH_REGION'],
  ['development', (v) => v.environment.queueDev, 'QUEUE_DEV', 'QSTASH_DEV'],
  ['development port', (v) => v.environment.queueDevPort, 'QUEUE_DEV_PORT', 'QSTASH_DEV_PORT'],
  ['error', (v) => v.sdkErrors.any, 'QueueError', 'QstashError'],
  ['burst error', (v) => v.sdkErrors.burst, 'QueueRatelimitError', 'QstashRatelimitError'],
  ['daily error', (v) => v.sdkErrors.daily, 'QueueDailyRatelimitError', 'QstashDailyRatelimitError'],
  ['chat error', (v) => v.sdkErrors.chat, 'QueueChatRatelimitError', 'QstashChatRatelimitError'],
  ['workflow header', (v) => ownHeader('workflow-sdk', v), 'Service-workflow-sdk', 'Upstash-workflow-sdk'],
  [
    'workflow trigger',
    (v) => ownHeader('workflow-trigger-by-sdk', v).toLowerCase(),
    'service-workflow-trigger-by-sdk',
    'upstash-workflow-trigger-by-sdk',
  ],
]

const statistics: Row[] = [
  ['management path', (v) => `/v2/${v.managementQueueSegment}/stats`, '/v2/queue/stats', '/v2/qstash/stats'],
]

describe('every row of the dialect tables', () => {
  test.each([...store, ...queue, ...statistics])('%s', (_, of, neutral, real) => {
    expect(of(neutralDialect)).toEqual(neutral)
    expect(of(upstashDialect)).toEqual(real)
  })

  test('region-prefixed environment variables contain the names of the dialect', () => {
    expect(`US_EAST_1_${upstashDialect.environment.queueUrl}`).toBe('US_EAST_1_QSTASH_URL')
  })
})

describe('dialectOf', () => {
  test('takes a name or a custom dialect', () => {
    const own: Dialect = { ...neutralDialect, name: 'own', headerPrefix: 'Acme-' }
    expect(dialectOf('upstash')).toBe(upstashDialect)
    expect(dialectOf(own)).toBe(own)
  })

  test('rejects an unknown name', () => {
    expect(() => dialectOf('acme' as 'neutral')).toThrow(/dialect.*'auto', 'neutral', 'upstash'.*Dialect.*"acme"/)
  })
})

describe('settings', () => {
  test('are the own headers without their prefix in any case, joined if repeated', () => {
    const headers: [string, string][] = [
      ['UPSTASH-Retries', '3'],
      ['upstash-label', 'a'],
      ['Upstash-Label', 'b'],
      ['Service-Retries', '9'],
      ['content-type', 'text/plain'],
    ]
    expect([...new DialectDetector(upstashDialect).headers(headers).settings]).toEqual([
      ['retries', '3'],
      ['label', 'a, b'],
    ])
    expect([...new DialectDetector(neutralDialect).headers(headers).settings]).toEqual([['retries', '9']])
  })
})

describe('on the way in', () => {
  test.each([
    ['/v2/qstash/stats/1', '/v2/queue/stats/1'],
    ['/v2/qstash/users', '/v2/queue/users'],
    ['/v2/qstash', '/v2/queue'],
    ['/v2/queue/stats/1', '/v2/qstash/stats/1'],
    ['/v2/qstashes/1', '/v2/qstashes/1'],
    ['/v2/search/1/stats', '/v2/search/1/stats'],
  ])('converts the management path %s to %s', (given, expected) => {
    expect(neutralManagementPath(given, upstashDialect)).toBe(expected)
  })
})
