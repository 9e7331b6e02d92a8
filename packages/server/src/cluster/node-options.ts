import { createHmac } from 'node:crypto'
import { ownManifest } from '@stuntdouble/command-line'
import type { SandboxOptions } from '../../../../src/sandbox/sandbox.js'
import { sharedTag } from './cluster-scripts.js'
import type { ClusterStore, LuaScript } from './cluster-store.js'
import { textOf } from './replies.js'

// Checks that all nodes have the same options and the same version. A node with other options or another version would
// create a different sandbox from the same journal.

/**
 * ARGV: digests of this node's options. Returns the digests that every node must have: the digests of the first node.
 * If the cluster has no nodes and no tenants, the next node that joins becomes the first node.
 */
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

/**
 * Compares the options of this node with the options of the cluster.
 * @throws TypeError that names each option that differs
 */
export async function checkNodeOptions(engine: ClusterStore, secret: string, world: SandboxOptions): Promise<void> {
  const own = digests(secret, world)
  const theirs = JSON.parse(textOf(await engine.run(join, sharedTag, [JSON.stringify(own)]))) as Record<string, string>
  const names = [...new Set([...Object.keys(own), ...Object.keys(theirs)])].filter((name) => own[name] !== theirs[name])
  if (names.length === 0) return
  // All digests depend on this secret. Report it first, because with another secret every option seems to differ.
  if (names.includes(secretOfNodes)) {
    throw new TypeError(
      'STUNTDOUBLE_CLUSTER_SECRET (--cluster-secret) must be the same as for the tenants and other nodes of this cluster. Start this node with the same secret.',
    )
  }
  const what = names.map((name) => flags[name] ?? name).join(', ')
  throw new TypeError(
    `${what} must be the same as for the tenants and other nodes of this cluster. Start this node with the same values, or drop all tenants and stop the other nodes first.`,
  )
}

const secretOfNodes = 'cluster-secret'

/** Names of options in the error message, if the command line uses another name. */
const flags: Readonly<Record<string, string>> = {
  urls: '--cluster-public-url (the URL of the load balancer)',
  version: 'version of stuntdouble',
  secret: 'STUNTDOUBLE_SECRET (--secret)',
  policy: '--policy or --max-traffic-entries',
}

/**
 * Returns a digest of each option, by name. Options contain secrets, so Redis gets only digests. Separate digests show
 * which options differ.
 */
function digests(secret: string, world: SandboxOptions): Record<string, string> {
  const { version } = ownManifest()
  const digest = (name: string, value: unknown): string =>
    createHmac('sha256', secret)
      .update(JSON.stringify([name, value]))
      .digest('base64url')
      .slice(0, 16)
  const given = Object.entries({ ...world, version, [secretOfNodes]: '' })
    // Functions cannot be compared. They belong to a program, which starts all of its nodes with the same ones.
    .filter(([, value]) => value !== undefined && typeof value !== 'function')
    .map(([name, value]) => [name, digest(name, value)] as const)
  return Object.fromEntries(given.sort(([one], [other]) => (one < other ? -1 : 1)))
}
