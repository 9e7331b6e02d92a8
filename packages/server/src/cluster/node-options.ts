import { createHmac } from 'node:crypto'
import { ownManifest } from '@stuntdouble/command-line'
import type { SandboxOptions } from '../../../../src/sandbox/sandbox.js'
import { sharedTag } from './cluster-scripts.js'
import type { ClusterStore, LuaScript } from './cluster-store.js'
import { textOf } from './replies.js'

// A journal is played with the options that it was written under, and by the same code: nodes that differ in them would make
// other worlds of it.

/** ARGV: the digests of this node. Replies those that are in force: of the first node since nobody and nothing was there. */
const join: LuaScript = {
  keys: ['options', 'nodes', 'owners'],
  source: `
local options, nodes, owners = unpack(KEYS)
local known = redis.call('GET', options)
if known and known ~= ARGV[1] and redis.call('HLEN', owners) == 0 then
  local time = redis.call('TIME')
  local now, lives = time[1] * 1000 + math.floor(time[2] / 1000), false
  for _, value in ipairs(redis.call('HVALS', nodes)) do lives = lives or tonumber(string.match(value, '^%d+')) > now end
  if not lives then known = false end
end
if known then return known end
redis.call('SET', options, ARGV[1])
return ARGV[1]
`,
}

/** @throws TypeError where the tenants that are there, or other nodes, have other options: it says which */
export async function checkNodeOptions(engine: ClusterStore, secret: string, world: SandboxOptions): Promise<void> {
  const own = digests(secret, world)
  const theirs = JSON.parse(textOf(await engine.run(join, sharedTag, [JSON.stringify(own)]))) as Record<string, string>
  const names = [...new Set([...Object.keys(own), ...Object.keys(theirs)])].filter((name) => own[name] !== theirs[name])
  if (names.length === 0) return
  // The digests of all others are made with it.
  if (names.includes(secretOfNodes)) {
    throw new TypeError(
      'This node has another STUNTDOUBLE_CLUSTER_SECRET (--cluster-secret) than the tenants of this cluster and its other nodes: start it with the same.',
    )
  }
  const what = names.map((name) => flags[name] ?? name).join(', ')
  throw new TypeError(
    `The tenants of this cluster were made with another ${what} than this node has, and would be other worlds here. Start it with the same, or drop all tenants and end the other nodes first.`,
  )
}

const secretOfNodes = 'cluster-secret'

/** How the options are given whose name alone does not tell. */
const flags: Readonly<Record<string, string>> = {
  urls: '--cluster-base (the address of the load balancer, the same for all nodes)',
  version: 'version of stuntdouble',
  secret: 'STUNTDOUBLE_SECRET (--secret)',
  policy: 'policy or --max-entries',
}

/** Digests, because there are secrets among the options; one each, to say which differ. */
function digests(secret: string, world: SandboxOptions): Record<string, string> {
  const { version } = ownManifest()
  const digest = (name: string, value: unknown): string =>
    createHmac('sha256', secret)
      .update(JSON.stringify([name, value]))
      .digest('base64url')
      .slice(0, 16)
  const given = Object.entries({ ...world, version, [secretOfNodes]: '' })
    // Functions cannot be compared; they are those of a program, which starts all of its nodes alike.
    .filter(([, value]) => value !== undefined && typeof value !== 'function')
    .map(([name, value]) => [name, digest(name, value)] as const)
  return Object.fromEntries(given.sort(([one], [other]) => (one < other ? -1 : 1)))
}
