import fc from 'fast-check'
import { arb } from 'stuntdouble/fast-check'
import { startServer } from 'stuntdouble/server'
import { expect, test } from 'vitest'
import { checkCluster } from '../src/cluster/cluster-options.js'

const secret = 'a secret of sixteen'

test('a server takes durations as texts', async () => {
  const server = await startServer({ port: 0, limits: { requestTimeout: '2m' } })
  await server.close({ grace: '1s' })
  await expect(startServer({ port: 0, limits: { requestTimeout: '2 minutes' as never } })).rejects.toThrow("Use '2m'")
})

test('a cluster takes a lease between its bounds as a text', () => {
  const check = (lease: unknown) => () => checkCluster({ url: 'redis://a', secret, lease: lease as never }, {}, false)
  expect(check('2s')).not.toThrow()
  expect(check(1500)).not.toThrow()
  expect(check('2m')).toThrow('from 500 to 60000')
  expect(check('soon')).toThrow('"soon" is not a duration')
})

test('generated clock moves have at most the maximum length', () => {
  fc.assert(fc.property(arb.clockMove({ maxLength: '90s' }), ({ advance }) => advance <= 90_000))
})
