import { describe, expect, test } from 'vitest'
import type { Item } from '../../src/protocol/items.js'
import { knownIn, ourTables } from '../../src/protocol/our-tables.js'

const known = knownIn(ourTables())
const ask = (kind: Item['kind'], name: string, owner?: string, source = 'a.yaml:1'): string =>
  known({ kind, name, owner, value: '', source })

describe('our tables', () => {
  test.each<[Item['kind'], string, string | undefined, 'yes' | 'no' | 'perhaps']>([
    ['command', 'SET', undefined, 'yes'],
    ['command', 'BLPOP', undefined, 'yes'],
    ['command', 'SUBSCRIBE', undefined, 'yes'],
    ['command', 'XGROUP CREATE', undefined, 'yes'],
    ['command', 'XGROUP', undefined, 'yes'],
    ['command', 'XGROUP NONE', undefined, 'no'],
    // Vector sets of redis-server, which the service does not have.
    ['command', 'VADD', undefined, 'no'],
    ['option', 'SET NX', 'SET', 'yes'],
    ['option', 'SET nx', 'SET', 'yes'],
    ['option', 'SET CH', 'SET', 'no'],
    ['option', 'XGROUP MKSTREAM', 'XGROUP', 'yes'],
    ['option', 'XGROUP CREATE', 'XGROUP', 'yes'],
    ['option', 'SEARCH.CREATE ON NOTHING', 'SEARCH.CREATE', 'no'],
    ['endpoint', 'GET /v2/messages/{}', undefined, 'yes'],
    ['endpoint', 'GET /V2/Messages/{}', undefined, 'yes'],
    ['endpoint', 'PUT /v2/messages/{}', undefined, 'no'],
    ['endpoint', 'GET /v2/messages/{}/more', undefined, 'no'],
    ['endpoint', 'POST /v2/publish/{}', undefined, 'yes'],
    ['endpoint', 'POST /v2/publish', undefined, 'no'],
    ['endpoint', 'GET /v2/qstash/stats/{}', undefined, 'yes'],
    ['endpoint', 'ANY /v2/workflows/hooks/{}/{}/{}', undefined, 'yes'],
    ['endpoint', 'ANY /multi-exec', undefined, 'yes'],
    ['endpoint', 'GET /v2/keys/rotate', undefined, 'no'],
    ['header', 'POST /v2/publish/{} upstash-delay', undefined, 'perhaps'],
    ['header', 'upstash-failure-callback-retries', undefined, 'perhaps'],
    ['header', 'upstash-forward-*', undefined, 'perhaps'],
    ['header', 'burst-ratelimit-limit', undefined, 'perhaps'],
    ['header', 'upstash-sync-token', undefined, 'perhaps'],
    ['header', 'upstash-gravity', undefined, 'no'],
    ['parameter', 'GET /v2/logs cursor', 'GET /v2/logs', 'perhaps'],
    ['parameter', 'GET /v2/logs gravity', 'GET /v2/logs', 'no'],
    ['field', 'Message messageId', 'Message', 'perhaps'],
    ['field', 'Message gravity', 'Message', 'no'],
    ['field', 'Message', undefined, 'perhaps'],
    ['status', 'GET /v2/logs 404', 'GET /v2/logs', 'perhaps'],
    ['status', 'GET /v2/logs default', 'GET /v2/logs', 'perhaps'],
    ['status', 'GET /v2/logs 418', 'GET /v2/logs', 'perhaps'],
    ['status', 'GET /v2/logs 599', 'GET /v2/logs', 'no'],
    ['text', 'ERR syntax error', undefined, 'perhaps'],
    ['text', "ERR wrong number of arguments for 'get' command", undefined, 'perhaps'],
    ['text', 'queue orders not found', undefined, 'perhaps'],
    ['text', 'ERR the moon is too close', undefined, 'no'],
  ])('contain %s %s of %s: %s', (kind, name, owner, answer) => {
    expect(ask(kind, name, owner)).toBe(answer)
  })

  test('do not contain fields of types that describe an SDK', () => {
    expect(ask('field', 'ClientConfig gravity', 'ClientConfig', 'qstash/client.d.ts:1')).toBe('perhaps')
    expect(ask('field', 'Message gravity', 'Message', 'qstash/client.d.ts:1')).toBe('no')
  })
})
