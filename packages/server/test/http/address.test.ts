import { describe, expect, test } from 'vitest'
import { defaultRegion, locator, sandboxUrlsOf } from '../../../../src/protocol/address.js'

describe('addresses', () => {
  test('are test hosts by default', () => {
    expect(sandboxUrlsOf()).toEqual({
      databases: {},
      store: 'https://store.test',
      queue: 'https://queue.test',
      mgmt: 'https://mgmt.test',
      regions: { 'us-east-1': 'https://us-east-1.queue.test', 'eu-central-1': 'https://eu-central-1.queue.test' },
    })
    expect(defaultRegion).toBe('eu-central-1')
  })

  test('contain the name of the sandbox', () => {
    expect(sandboxUrlsOf({}, 'Orders-2')).toMatchObject({
      store: 'https://orders-2.store.test',
      queue: 'https://orders-2.queue.test',
      mgmt: 'https://orders-2.mgmt.test',
      regions: { 'us-east-1': 'https://us-east-1.orders-2.queue.test' },
    })
  })

  test('are below one base URL on a server', () => {
    expect(sandboxUrlsOf({ base: 'http://127.0.0.1:4010/main/' })).toEqual({
      store: 'http://127.0.0.1:4010/main/store',
      queue: 'http://127.0.0.1:4010/main/queue',
      mgmt: 'http://127.0.0.1:4010/main/mgmt',
      regions: {
        'us-east-1': 'http://127.0.0.1:4010/main/queue-us-east-1',
        'eu-central-1': 'http://127.0.0.1:4010/main/queue',
      },
      databases: {},
    })
  })

  test('can be set one by one', () => {
    const addresses = sandboxUrlsOf({
      store: 'https://a.example/',
      queue: 'https://b.example/q',
      mgmt: 'https://c.example',
      regions: { 'us-east-1': 'https://us.b.example' },
    })
    expect(addresses).toEqual({
      databases: {},
      store: 'https://a.example',
      queue: 'https://b.example/q',
      mgmt: 'https://c.example',
      regions: { 'us-east-1': 'https://us.b.example', 'eu-central-1': 'https://b.example/q' },
    })
  })

  test.each(['store.test', 'ftp://store.test', ''])('reject the store URL %j', (store) => {
    expect(() => sandboxUrlsOf({ store })).toThrow(new RegExp(`base URL.*http or https.*got ${JSON.stringify(store)}`))
  })

  test.each(['a b', 'a.b', '-a', 'ü', ''])('reject the name %j, which cannot be part of a host', (name) => {
    expect(() => sandboxUrlsOf({}, name)).toThrow(/\bname\b.*host name/)
  })
})

test('sandboxUrlsOf() explains how to use a real Redis, and does not expose its password', () => {
  for (const store of ['redis://:geheim@127.0.0.1:6379', 'rediss://127.0.0.1', 'valkey://127.0.0.1']) {
    expect(() => sandboxUrlsOf({ store })).toThrow(/createRealRedisSandbox/)
    expect(() => sandboxUrlsOf({ store })).not.toThrow(/geheim/)
  }
})

describe('the locator', () => {
  const locate = locator(sandboxUrlsOf())
  const underBase = locator(sandboxUrlsOf({ base: 'http://127.0.0.1:4010/main' }))

  test.each([
    ['https://store.test/get/a', 'store', undefined, '/get/a', ''],
    ['https://store.test', 'store', undefined, '/', ''],
    ['https://store.test?_token=t', 'store', undefined, '/', '_token=t'],
    ['https://store.test/get/a#part', 'store', undefined, '/get/a', ''],
    ['https://store.test/get/a?b=c#d?e', 'store', undefined, '/get/a', 'b=c'],
    ['https://store.test/get/a#d?e=f', 'store', undefined, '/get/a', ''],
    ['HTTPS://Store.Test:443/get/A', 'store', undefined, '/get/A', ''],
    ['https://store.test/set/a%2Fb/%20/?x=%20', 'store', undefined, '/set/a%2Fb/%20/', 'x=%20'],
    ['https://queue.test/v2/keys', 'queue', 'eu-central-1', '/v2/keys', ''],
    ['https://eu-central-1.queue.test/v2/keys', 'queue', 'eu-central-1', '/v2/keys', ''],
    ['https://us-east-1.queue.test/v2/keys', 'queue', 'us-east-1', '/v2/keys', ''],
    [
      'https://queue.test/v2/publish/https://shop.test/a?b=1',
      'queue',
      'eu-central-1',
      '/v2/publish/https://shop.test/a',
      'b=1',
    ],
    ['https://mgmt.test/v2/queue/stats/1', 'stats', undefined, '/v2/queue/stats/1', ''],
  ])('%s', (url, service, region, path, query) => {
    expect(locate(url)).toMatchObject({ service, region, path, query })
  })

  test.each([
    'https://shop.test/',
    'http://store.test/get/a',
    'https://store.test:8443/get/a',
    'https://store.test.evil.example/get/a',
    'https://store.testing/get/a',
    'https://user@store.test.example/',
    'https://other.store.test/get/a',
    'no url',
    '',
  ])('does not locate %j', (url) => {
    expect(locate(url)).toBeUndefined()
  })

  test('locates a URL with credentials', () => {
    expect(locate('https://user:secret@store.test/get/a')).toMatchObject({ service: 'store', path: '/get/a' })
  })

  test.each([
    ['http://127.0.0.1:4010/main/store/get/a', 'store', undefined, '/get/a'],
    ['http://127.0.0.1:4010/main/queue/v2/keys', 'queue', 'eu-central-1', '/v2/keys'],
    ['http://127.0.0.1:4010/main/queue-us-east-1/v2/keys', 'queue', 'us-east-1', '/v2/keys'],
    ['http://127.0.0.1:4010/main/mgmt/v2/queue/stats/1', 'stats', undefined, '/v2/queue/stats/1'],
  ])('locates %s below a base URL', (url, service, region, path) => {
    expect(underBase(url)).toMatchObject({ service, region, path })
  })

  test.each([
    'http://127.0.0.1:4010/',
    'http://127.0.0.1:4010/main',
    'http://127.0.0.1:4010/main/stores/get/a',
    'http://127.0.0.1:4010/other/store/get/a',
    'http://127.0.0.1:4010/main/queue-eu-west-1/v2/keys',
  ])('does not locate %s below the base URL', (url) => {
    expect(underBase(url)).toBeUndefined()
  })
})
