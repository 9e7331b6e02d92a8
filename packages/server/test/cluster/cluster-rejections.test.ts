import { expect, test } from 'vitest'
import { unavailable } from '../../src/cluster/cluster-rejections.js'
import { StoreUnreachable } from '../../src/cluster/cluster-store.js'
import { NoResponse, NotTaken } from '../../src/cluster/forward.js'
import { CannotOpen } from '../../src/cluster/ownership.js'
import { ClusterStoreError } from '../../src/cluster/store-link.js'
import { Deleted, NotOwner } from '../../src/cluster/tenant-lease.js'

const nothing = 'Nothing was done. Send the request again.'
const perhaps = 'The request may or may not have run. Check the data of the tenant before you send the request again.'
const away = 'The Redis that keeps the tenants is unavailable: '

// docs/cluster.md states that a 503 contains one of two statements, once.
test.each([
  [
    new StoreUnreachable('127.0.0.1:6379: connect ECONNREFUSED'),
    `${away}127.0.0.1:6379: connect ECONNREFUSED. ${nothing}`,
  ],
  [
    new StoreUnreachable("OOM command not allowed when used memory > 'maxmemory'."),
    `${away}OOM command not allowed when used memory > 'maxmemory'. ${nothing}`,
  ],
  [
    new NoResponse(new StoreUnreachable('it did not answer in time.').message),
    `${away}it did not answer in time. ${perhaps}`,
  ],
  [new NoResponse('socket hang up'), `Socket hang up. ${perhaps}`],
  [new Deleted('st7'), `Tenant st7 was deleted. ${nothing}`],
  [
    new NotOwner('This node is stopping and accepts no more requests.'),
    `This node is stopping and accepts no more requests. ${nothing}`,
  ],
  [
    new NotTaken('connect ECONNREFUSED 127.0.0.1:1'),
    `The node that owns the tenant does not respond, and no other node has taken the tenant over yet: connect ECONNREFUSED 127.0.0.1:1. ${nothing}`,
  ],
])('%s', (error, sentence) => {
  expect(unavailable(error)).toMatchObject({ status: 503, headers: expect.arrayContaining([['Retry-After', '1']]) })
  expect(JSON.parse(String(unavailable(error).body))).toEqual({ error: sentence })
})

test('a journal that cannot be replayed returns 500 and the reason with one full stop', () => {
  const { status, body } = unavailable(new CannotOpen('st7', { cause: new Error('it strays..') }))
  expect(status).toBe(500)
  expect(JSON.parse(String(body))).toEqual({
    error: expect.stringMatching(/^Tenant st7 cannot be opened.*: it strays\.$/),
  })
})

test('a Redis that rejects a command returns 500 and its error', () => {
  const { status, body } = unavailable(new ClusterStoreError('NOPERM No permissions to access a key'))
  expect(status).toBe(500)
  expect(JSON.parse(String(body))).toEqual({
    error:
      'The Redis of the cluster rejects a command of this node for the keys stuntdouble:*: NOPERM No permissions to access a key.',
  })
})
