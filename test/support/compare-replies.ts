import type { RespReply } from './resp.js'
import { type Looseness, showReply } from './steps.js'

/** Maximum difference of integers with the flag `near`. */
const nearEnough = 50
/** Maximum difference of times, which come from a real server on a busy machine. */
const nearEnoughWithin = 250

/** Returns whether two replies differ, compared according to the flags. */
export function compareReplies(expected: RespReply, reply: RespReply, loose: ReadonlySet<Looseness>): boolean {
  return canonical(expected, loose, reply) !== canonical(reply, loose, reply)
}

function canonical(reply: RespReply, loose: ReadonlySet<Looseness>, other: RespReply): string {
  if (loose.has('shape')) return shape(reply)
  if (loose.has('near')) return near(reply, other)
  if (loose.has('times')) return showReply(withoutTimes(reply, other))
  if (loose.has('failure') && 'error' in reply) return withoutTraceback(reply.error)
  if (!('array' in reply)) return showReply(reply)
  if (loose.has('scan') || loose.has('scanpairs')) {
    const [cursor, page] = reply.array
    if (cursor && page && 'array' in page)
      return `${showReply(cursor)} ${multiset(page.array, loose.has('scanpairs') ? 2 : 1)}`
  }
  if (loose.has('unordered')) return multiset(reply.array, 1)
  if (loose.has('pairs')) return multiset(reply.array, 2)
  return showReply(reply)
}

/** Returns the location of a script's error, without the details that only the service adds. */
function withoutTraceback(error: string): string {
  return error.replace(/ stack traceback:.*$/, '').replace(/\(column:\d+\)/, '')
}

function multiset(items: readonly RespReply[], size: number): string {
  const groups: string[] = []
  for (let at = 0; at < items.length; at += size)
    groups.push(
      items
        .slice(at, at + size)
        .map(showReply)
        .join(' '),
    )
  return groups.sort().join('\n')
}

function shape(reply: RespReply): string {
  if ('array' in reply) return `[${reply.array.map(shape).join(', ')}]`
  if ('error' in reply || 'nil' in reply) return showReply(reply)
  return Object.keys(reply)[0]!
}

function near(reply: RespReply, other: RespReply): string {
  if (!('integer' in reply) || !('integer' in other)) return showReply(reply)
  return Math.abs(Number(reply.integer) - Number(other.integer)) <= nearEnough ? 'near' : showReply(reply)
}

/** Compares details of stream groups: idle times and times may differ, all else must be equal. */
function withoutTimes(reply: RespReply, other: RespReply): RespReply {
  if (!('array' in reply) || !('array' in other)) return reply
  const kinds = reply.array.map((item) => Object.keys(item)[0]).join(' ')
  const timeAt = { 'bulk bulk integer integer': 2, 'bulk integer integer': 1 }[kinds]
  return {
    array: reply.array.map((item, index) => {
      const before = reply.array[index - 1]
      const named = before !== undefined && 'bulk' in before && /^(?:idle|seen-time)$/.test(before.bulk)
      const theirs = other.array[index]
      if (theirs === undefined) return item
      return (index === timeAt || named) && closeTo(item, theirs, nearEnoughWithin)
        ? theirs
        : withoutTimes(item, theirs)
    }),
  }
}

const firstTimeOfDay = 1e12

function closeTo(reply: RespReply, other: RespReply, within: number): boolean {
  if (!('integer' in reply) || !('integer' in other)) return false
  const [a, b] = [Number(reply.integer), Number(other.integer)]
  return Math.abs(a - b) <= within || Math.min(a, b) > firstTimeOfDay
}
