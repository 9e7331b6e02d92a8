import type { LuaScript } from './cluster-store.js'

// Whatever must happen at once happens in one script. Those of a tenant share their keys:
//   lease     who owns it, as `id@address#fence`; expires by the engine's clock
//   fence     counts its owners, and never expires
//   journal   a list of records, each with the fence that it was written under in front: `17:bytes`
//   base      how many records were before those, for which the snapshot stands
//   snapshot  the bytes
const tenantKeys = ['lease', 'fence', 'journal', 'base', 'snapshot']

/**
 * ARGV: the holder, its lease in ms. A lease that ran out is still its holder's as long as nobody else came: the fence
 * alone decides, so that an engine that was away for a while costs no world. A lease that is fresh is left as it is, since
 * engines put every write on their disk, and most who ask only read.
 */
const asHolder = `
local lease, fence, journal, base, snapshot = unpack(KEYS)
local held = redis.call('GET', lease)
local count = redis.call('GET', fence)
if held ~= ARGV[1] and (held or count ~= string.match(ARGV[1], '%d+$')) then return {'lost', held, count} end
local before = tonumber(redis.call('GET', base) or 0)
`

/** A lease that is there needs no memory to go on. */
const renew = `
if not held then redis.call('SET', lease, ARGV[1], 'PX', ARGV[2])
elseif redis.call('PTTL', lease) < ARGV[2] * 2 / 3 then redis.call('PEXPIRE', lease, ARGV[2]) end
`

/** An engine that is full refuses a script whose first write needs memory, and none after that. */
function asHolderOf(...parts: readonly string[]): LuaScript {
  return { keys: tenantKeys, source: asHolder + parts.join('') }
}

/**
 * ARGV: `id@address`, lease. A lease of its own that a node asks for once more comes from a reply that was lost, or from
 * a world that it gave up: it gets a new fence as everybody does. It begins with what needs no memory: a tenant of an engine
 * that is full can be read and deleted.
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
 * ARGV: holder, lease, how many records its writer believes to be there, records. None: looks whether the lease is still
 * its own. What is there already was written when a reply was lost.
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

/** ARGV: holder, lease, the place of the first record, how many bytes are enough. At least one record, if there is one. */
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

/** ARGV: holder, lease, the first byte and the last. */
export const readSnapshot: LuaScript = asHolderOf(
  renew,
  `
return {'part', redis.call('GETRANGE', snapshot, ARGV[3], ARGV[4])}
`,
)

/** ARGV: holder, lease, for how many records since the tenant began it stands, its bytes. */
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

/** The fence counts on, so that nothing which is still on its way takes the lease back. */
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

// What all nodes share, at one place:
//   nodes     id -> `until address`, in ms of the engine's clock
//   owners    tenant -> `fence id`, behind the leases: with no id, or one of a dead node, it is an orphan
const sharedKeys = ['nodes', 'owners']
/** No tenant is called so. */
export const sharedTag = '_cluster'

const engineNow = `
local nodes, owners = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/**
 * ARGV: id, address, how long it is believed to live in ms, where to look on, how many tenants to look at. What has been
 * dead for long is forgotten. Replies where to look on, and of those the orphans and what is said to be this node's own: it
 * may not know, for the reply that told it so was lost.
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
 * ARGV: tenant, fence, id, and so on; without an id it is nobody's, `-` for an id: there is none any more. What is older
 * than what is there is no news.
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

/** Replies the nodes, each with the ms that it is still believed to live, and the tenants with their owners. */
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
