import type { LuaScript } from './cluster-store.js'

// Scripts that change the keys of a tenant atomically. They share these keys:
//   lease     its owner as `id@address#fence`; expires on the clock of the Redis
//   fence     number of its owners so far; never expires
//   journal   a list of records, each with the fence of its owner in front: `17:bytes`
//   base      number of records before those in the journal, which the snapshot contains
//   snapshot  the bytes of the snapshot
const tenantKeys = ['lease', 'fence', 'journal', 'base', 'snapshot']

/**
 * ARGV: the owner, its lease in ms. An expired lease still belongs to its owner until another node takes it: only the
 * fence decides, so that an outage of the Redis costs no sandbox. A fresh lease is not written, because Redis persists
 * every write, and most requests only read.
 */
const asHolder = `
local lease, fence, journal, base, snapshot = unpack(KEYS)
local held = redis.call('GET', lease)
local count = redis.call('GET', fence)
if held ~= ARGV[1] and (held or count ~= string.match(ARGV[1], '%d+$')) then return {'lost', held, count} end
local before = tonumber(redis.call('GET', base) or 0)
`

/** Extending an existing lease needs no memory. */
const renew = `
if not held then redis.call('SET', lease, ARGV[1], 'PX', ARGV[2])
elseif redis.call('PTTL', lease) < ARGV[2] * 2 / 3 then redis.call('PEXPIRE', lease, ARGV[2]) end
`

/** A full Redis rejects a script only if its first write needs memory. */
function asHolderOf(...parts: readonly string[]): LuaScript {
  return { keys: tenantKeys, source: asHolder + parts.join('') }
}

/**
 * ARGV: `id@address`, lease. If a node asks again for its own lease, a reply was lost or the node gave up the sandbox,
 * so it gets a new fence, too. The script begins with commands that need no memory, so that a tenant of a full Redis
 * can be read and deleted.
 */
export const acquire: LuaScript = {
  keys: tenantKeys,
  source: `
local lease, fence, journal, base, snapshot = unpack(KEYS)
local held = redis.call('GET', lease)
if held and string.match(held, '^(.*)#') ~= ARGV[1] then return {'held', held, redis.call('PTTL', lease)} end
redis.call('PERSIST', fence)
local count = redis.call('INCR', fence)
redis.call('SET', lease, ARGV[1] .. '#' .. count, 'PX', ARGV[2])
local before = tonumber(redis.call('GET', base) or 0)
return {'mine', count, before, redis.call('LLEN', journal), redis.call('STRLEN', snapshot)}
`,
}

/**
 * ARGV: owner, lease, number of records that the owner knows of, records. Without records it only checks the lease.
 * Records that exist already were written by a call whose reply was lost.
 */
export const append: LuaScript = asHolderOf(
  `
local there, from, records = before + redis.call('LLEN', journal), tonumber(ARGV[3]), #ARGV - 3
if there == from then
  for first = 4, #ARGV, 1000 do redis.call('RPUSH', journal, unpack(ARGV, first, math.min(first + 999, #ARGV))) end
elseif there ~= from + records then
  return {'astray', there}
end
`,
  renew,
  `return {'kept'}`,
)

/** ARGV: owner, lease, index of the first record, maximum bytes. Returns at least one record, if there is one. */
export const readRecords: LuaScript = asHolderOf(
  renew,
  `
local records, bytes, place, length = {}, 0, tonumber(ARGV[3]) - before, redis.call('LLEN', journal)
while place < length and bytes < tonumber(ARGV[4]) do
  for _, record in ipairs(redis.call('LRANGE', journal, place, place + 15)) do
    records[#records + 1] = record
    bytes = bytes + #record
  end
  place = place + 16
end
return {'part', records}
`,
)

/** ARGV: owner, lease, first and last byte. */
export const readSnapshot: LuaScript = asHolderOf(
  renew,
  `
return {'part', redis.call('GETRANGE', snapshot, ARGV[3], ARGV[4])}
`,
)

/** ARGV: owner, lease, number of records since the creation of the tenant that the snapshot contains, its bytes. */
export const compact: LuaScript = asHolderOf(
  renew,
  `
local stands = tonumber(ARGV[3])
if stands > before + redis.call('LLEN', journal) then return {'astray'} end
if stands > before then
  redis.call('LTRIM', journal, stands - before, -1)
  redis.call('SET', base, ARGV[3])
  redis.call('SET', snapshot, ARGV[4])
end
return {'kept'}
`,
)

/** Increments the fence, so that a delayed command cannot take the lease back. */
export const release: LuaScript = asHolderOf(`
redis.call('DEL', lease)
redis.call('INCR', fence)
return {'kept'}
`)

export const drop: LuaScript = asHolderOf(`
redis.call('DEL', lease, journal, base, snapshot)
redis.call('INCR', fence)
return {'kept'}
`)

// Keys that all nodes share:
//   nodes     id -> `until address`, in ms of the clock of the Redis
//   owners    tenant -> `fence id`, slightly behind the leases; a tenant without an id, or with that of a dead node, is an orphan
const sharedKeys = ['nodes', 'owners']
/** Tag of the shared keys, which is not a valid tenant name. */
export const sharedTag = '_cluster'

const engineNow = `
local nodes, owners = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/**
 * ARGV: id, address, lifetime in ms, cursor, maximum number of tenants. Forgets nodes that have been dead for long.
 * Returns the next cursor, orphans, and tenants that are listed for this node, because the node may not know of them if
 * a reply was lost.
 */
export const beat: LuaScript = {
  keys: sharedKeys,
  source: `${engineNow}
redis.call('HSET', nodes, ARGV[1], string.format('%.0f', now + ARGV[3]) .. ' ' .. ARGV[2])
local lives, all = {}, redis.call('HGETALL', nodes)
for at = 1, #all, 2 do
  local left = tonumber(string.match(all[at + 1], '^%d+')) - now
  if left > 0 then lives[all[at]] = true elseif left < -20 * ARGV[3] then redis.call('HDEL', nodes, all[at]) end
end
local page = redis.call('HSCAN', owners, ARGV[4], 'COUNT', ARGV[5])
local orphans = {}
for at = 1, #page[2], 2 do
  local owner = string.match(page[2][at + 1], ' (.*)$')
  if owner == ARGV[1] or not lives[owner] then orphans[#orphans + 1] = page[2][at] end
end
return {page[1], orphans}
`,
}

/**
 * ARGV: tenant, fence, id, and so on. An empty id means no owner, and `-` that the tenant was deleted. Information that
 * is older than the stored one is ignored.
 */
export const tell: LuaScript = {
  keys: sharedKeys,
  source: `
local owners = KEYS[2]
for at = 1, #ARGV, 3 do
  local tenant, fence, id = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local known = redis.call('HGET', owners, tenant)
  if not known or tonumber(string.match(known, '^%d+')) <= tonumber(fence) then
    if id == '-' then redis.call('HDEL', owners, tenant) else redis.call('HSET', owners, tenant, fence .. ' ' .. id) end
  end
end
return {'kept'}
`,
}

/** Returns the nodes with their remaining lifetimes in ms, and the tenants with their owners. */
export const list: LuaScript = {
  keys: sharedKeys,
  source: `${engineNow}
local all = redis.call('HGETALL', nodes)
for at = 2, #all, 2 do
  local till, address = string.match(all[at], '^(%d+) (.*)$')
  all[at] = string.format('%.0f', till - now) .. ' ' .. address
end
return {all, redis.call('HGETALL', owners)}
`,
}

/** ARGV: id */
export const leave: LuaScript = {
  keys: sharedKeys,
  source: `
redis.call('HDEL', KEYS[1], ARGV[1])
return {'kept'}
`,
}
