import { expect, it } from 'vitest'
import { documentedCommands } from '../support/documented-commands.js'
import { startRedis } from '../support/live-redis.js'

it('every command of the live server has a row in docs/protocol/commands.json', async () => {
  const redis = await startRedis()
  const list = await redis.client.send(['COMMAND', 'LIST'])
  await redis.stop()
  const names = 'array' in list ? list.array.map((name) => ('bulk' in name ? name.bulk.toUpperCase() : '')) : []
  const known = new Set(documentedCommands().map(({ name }) => name))
  // A container only has rows for its subcommands.
  const containers = new Set(names.filter((name) => name.includes('|')).map((name) => name.split('|')[0]!))
  const missing = names
    .map((name) => name.replace('|', ' '))
    .filter((name) => !known.has(name) && !containers.has(name))
  expect(names.length).toBeGreaterThan(300)
  expect(missing).toEqual([])
})
