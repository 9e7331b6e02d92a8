import type { LuaScript } from './cluster-store.js'

// Scripts that change the keys of a tenant atomically. They share these keys:
//   lease     owner of the tenant as `id@address#fence`; expires on the clock of Redis
//   fence     number of owners that the tenant has had so far; never expires
//   journal   list of records; each begins with the fence of the owner that wrote it: `17:bytes`
//   base      number of records in the snapshot; the journal contains the later records
//   snapshot  the bytes of the snapshot
const tenantKeys = ['lease', 'fence', 'journal', 'base', 'snapshot']

/**
 * First part of the scripts that only the owner may run. ARGV: owner, lease in ms. When the lease expires, the owner
 * keeps the tenant until another node takes it. The fence shows whether another node has taken the tenant. An outage of
 * Redis that is longer than the lease therefore loses no sandbox.
 */
const asHolder = `
local lease, fence, journal, base, snapshot = unpack(KEYS)
local held = redis.call('GET', lease)
local count = redis.call('GET', fence)
if held ~= ARGV[1] and (held or count ~= string.match(ARGV[1], '%d+$')) then return {'lost', held, count} end
local before = tonumber(redis.call('GET', base) or 0)
`

/**
 * Renews the lease if at most two thirds of it are left. Otherwise nothing is written, because Redis persists every
 * write, and most requests only read. Extending an existing lease needs no memory.
 */
const renew = `
if not held then redis.call('SET', lease, ARGV[1], 'PX', ARGV[2])
elseif redis.call('PTTL', lease) < ARGV[2] * 2 / 3 then redis.call('PEXPIRE', lease, ARGV[2]) end
`

/**
 * Returns a script that only the owner may run. If possible, the first write of the script needs no memory. When the
 * memory of Redis is full, Redis rejects a script only if its first write needs memory.
 */
function asHolderOf(...parts: readonly string[]): LuaScript {
  return { keys: tenantKeys, source: asHolder + parts.join('') }
}

/**
 * Takes a tenant that no other node owns. ARGV: `id@address`, lease in ms. A node that already owns the tenant gets a
 * new fence. Such a node has missed a reply, or has given up the sandbox. The first write of the script needs no
 * memory. A tenant can therefore be read and deleted while the memory of Redis is full.
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
 * Appends records to the journal. ARGV: owner, lease in ms, number of records that the owner knows of, records. Without
 * records, the script only checks and renews the lease. Records that the journal already contains are skipped. An
 * earlier call has written them, but its reply was lost.
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

/**
 * Reads records of the journal. ARGV: owner, lease in ms, index of the first record, maximum bytes. If any record
 * remains, at least one is returned, even if it is longer than the maximum.
 */
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

/** Reads a part of the snapshot. ARGV: owner, lease in ms, index of the first and of the last byte. */
export const readSnapshot: LuaScript = asHolderOf(
  renew,
  `
return {'part', redis.call('GETRANGE', snapshot, ARGV[3], ARGV[4])}
`,
)

/**
 * Replaces records of the journal by a snapshot. ARGV: owner, lease in ms, number of records in the snapshot, bytes of
 * the snapshot. The number includes all records since the creation of the tenant.
 */
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

/** Releases the lease. The fence is incremented, so that a delayed command of the former owner is rejected. */
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
// nodes id -> `until address`; `until` is in ms on the clock of Redis
//   owners    tenant -> `fence id`, updated after the lease; an orphan has no id, or the id of a dead node
const sharedKeys = ['nodes', 'owners']
/** Tag in the names of the shared keys. No tenant can have this name, because it begins with `_`. */
export const sharedTag = '_cluster'

const engineNow = `
local nodes, owners = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/**
 * Heartbeat of a node. ARGV: id, address, lifetime in ms, cursor, maximum number of tenants. The script deletes nodes
 * that have been dead for 20 lifetimes. It returns the next cursor, the orphans, and the tenants that this node owns
 * according to the registry. If a reply was lost, the node may not know that it owns such a tenant.
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
 * Updates the owners of tenants. ARGV: tenant, fence and id of each tenant. An empty id means that the tenant has no
 * owner, and `-` that it was deleted. An update with a lower fence than the stored one is ignored.
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

/** Removes a node. ARGV: id */
export const leave: LuaScript = {
  keys: sharedKeys,
  source: `
redis.call('HDEL', KEYS[1], ARGV[1])
return {'kept'}
`,
}
