import { NilArray, type Reply, type ReplyError, Status } from '../../../../src/store/command/reply.js'

// Compares the replies of the double and of a real Redis. For random and time-dependent commands, only the types and
// lengths are compared.

export type CommandOutcome = { readonly reply: Reply } | { readonly error: ReplyError }

/** For these commands, only the types and lengths of replies are compared. */
const byShape =
  /^(?:SRANDMEMBER|HRANDFIELD|ZRANDMEMBER|RANDOMKEY|TIME|MEMORY|XINFO|XPENDING|XAUTOCLAIM|SCRIPT|FUNCTION|OBJECT)$/i
/**
 * For these commands, only the type of replies is compared. Page sizes are random, and servers describe themselves
 * differently.
 */
const byKind = /^(?:[HSZ]?SCAN|INFO|COMMAND|DUMP)$/i
const unordered = /^(?:SMEMBERS|SINTER|SUNION|SDIFF|KEYS|HKEYS|HVALS)$/i
/**
 * Commands that return a TTL or an expiration time. PTTL, PEXPIRETIME and their HP variants return milliseconds, and
 * the other commands return seconds.
 */
const times = /^H?P?(?:TTL|EXPIRETIME)$/i
const nearEnough = 2_000

/** Returns whether two replies are the same, except for random and time-dependent parts. */
export function matchesLoosely(argv: readonly string[], double: CommandOutcome, engine: CommandOutcome): boolean {
  if ('error' in double || 'error' in engine) {
    return 'error' in double && 'error' in engine && double.error.message === engine.error.message
  }
  const name = argv[0] ?? ''
  const [ours, theirs] = [double.reply, engine.reply]
  if (byKind.test(name)) return kindOf(ours) === kindOf(theirs)
  if (byShape.test(name)) return shapeOf(ours) === shapeOf(theirs)
  if (times.test(name)) return isNear(ours, theirs, /^H?P/i.test(name) ? nearEnough : nearEnough / 1_000)
  const order = unordered.test(name) ? bySort : /^HGETALL$/i.test(name) ? byPairs : textOf
  return order(ours) === order(theirs)
}

function kindOf(reply: Reply): string {
  if (reply === null || reply instanceof NilArray) return 'nil'
  if (reply instanceof Status) return 'status'
  if (typeof reply === 'object') return 'list'
  return typeof reply === 'string' ? 'text' : 'integer'
}

function shapeOf(reply: Reply): string {
  return Array.isArray(reply) ? `[${(reply as readonly Reply[]).map(shapeOf).join(',')}]` : kindOf(reply)
}

/** Formats a reply. Replies of different types always have different texts. */
function textOf(reply: Reply): string {
  if (Array.isArray(reply)) return `[${(reply as readonly Reply[]).map(textOf).join(',')}]`
  if (reply instanceof Status) return `+${reply.text}`
  if (reply instanceof NilArray) return '*-1'
  if (reply === null) return '$-1'
  return typeof reply === 'string' ? JSON.stringify(reply) : String(reply)
}

function bySort(reply: Reply): string {
  return Array.isArray(reply) ? (reply as readonly Reply[]).map(textOf).sort().join() : textOf(reply)
}

function byPairs(reply: Reply): string {
  if (!Array.isArray(reply)) return textOf(reply)
  const items = (reply as readonly Reply[]).map(textOf)
  return items
    .flatMap((item, at) => (at % 2 === 0 ? [`${item}: ${items[at + 1]}`] : []))
    .sort()
    .join()
}

/**
 * Returns whether two times differ by at most `within`. Lists are compared element by element. Other values, such as -1
 * for no TTL, must be equal.
 */
function isNear(ours: Reply, theirs: Reply, within: number): boolean {
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    return ours.length === theirs.length && ours.every((item, at) => isNear(item, theirs[at]!, within))
  }
  if (typeof ours !== 'number' || typeof theirs !== 'number') return textOf(ours) === textOf(theirs)
  return ours === theirs || (ours >= 0 && theirs >= 0 && Math.abs(ours - theirs) <= within)
}
