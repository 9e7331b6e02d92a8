import * as v from 'valibot'
import { type Bytes, latin1 } from '../kernel/bytes.js'
import { bytesOf, type PortableString } from '../kernel/portable.js'
import { type Entry, TrafficLog } from '../kernel/traffic-log.js'
import type { Trace, TraceEntry } from './trace.js'
import { type ReadTrace, traceSchema } from './trace-schema.js'
import { Traffic } from './traffic-view.js'

/**
 * Reads a trace that `toTrace()` wrote, for matchers and reports. Secrets stay hidden as `***`.
 * @param given the text of a JSON file, or the parsed value
 * @throws TypeError when the trace is invalid, with the path of the invalid part
 * @example
 * const traffic = loadTrace(readFileSync('trace.json', 'utf8'))
 * expect(traffic).toHavePublished({ to: 'https://shop.test/orders' })
 */
export function loadTrace(given: string | Trace | object): Traffic {
  const plain = typeof given === 'string' ? parsed(given) : given
  const result = v.safeParse(traceSchema, plain)
  if (!result.success) throw new TypeError(complaint(plain, result.issues[0]))
  // Use the input instead of the validated copy, because only the input has the original order of fields.
  const { entries, seed, now, headerPrefix, addresses } = plain as ReadTrace
  let last = 0
  for (const { seq } of entries) {
    if (seq <= last) throw new TypeError(`This is not a valid trace: entry #${seq} comes after entry #${last}.`)
    last = seq
  }
  return new Traffic(TrafficLog.recorded(entries.map((entry) => entryOf(entry as TraceEntry))), {
    ...(seed !== undefined && { seed }),
    ...(now !== undefined && { now: () => now }),
    ...(headerPrefix !== undefined && { headerPrefix }),
    ...(addresses !== undefined && { addresses: addresses as Record<string, unknown> }),
  })
}

function parsed(json: string): unknown {
  if (json.trim() === '') throw new TypeError('This is not a valid trace: it is empty.')
  try {
    return JSON.parse(json)
  } catch (error) {
    throw new TypeError(
      `This is not a valid trace: it must be JSON (${error instanceof Error ? error.message : error}).`,
    )
  }
}

function complaint(given: unknown, issue: v.BaseIssue<unknown>): string {
  const { format, version } = (typeof given === 'object' && given !== null ? given : {}) as {
    format?: unknown
    version?: unknown
  }
  if (format === 'stuntdouble/trace' && version !== undefined && version !== 1) {
    return `This trace has version ${JSON.stringify(version)}, but this package supports only version 1. Use a newer version of the package.`
  }
  if (format !== 'stuntdouble/trace')
    return `This is not a valid trace: it has no "format": "stuntdouble/trace". Create one with traffic.toTrace() or GET /traffic/trace of the control API.`
  const where = v.getDotPath(issue)
  return `This is not a valid trace of traffic.toTrace()${where ? `: ${where}` : ''}: ${issue.message}.`
}

/** Converts an entry from its form in JSON. Byte strings are converted back to bytes. */
export function entryOf(plain: TraceEntry): Entry {
  const out: Record<string, unknown> = { ...plain }
  if (plain.type === 'keyspace') out.key = bytesOf(plain.key as PortableString)
  if (plain.type === 'command') {
    out.argv = (plain.argv as PortableString[]).map((word) => bytesOf(word))
    if ('reply' in plain) out.reply = replyOf(plain.reply)
  }
  if ('body' in plain) out.body = bodyOf(plain.body)
  for (const end of ['response', 'outcome']) {
    const given = plain[end] as { body: unknown } | undefined
    if (given !== undefined) out[end] = { ...given, body: given.body === null ? undefined : bodyOf(given.body) }
  }
  const redact = plain.redact as { headers: string[] } | undefined
  if (redact !== undefined) out.redact = { ...redact, headers: new Set(redact.headers) }
  return out as unknown as Entry
}

function bodyOf(given: unknown): Bytes {
  const { cut } = given as { cut?: PortableString }
  return bytesOf(cut ?? (given as PortableString))
}

function replyOf(reply: unknown): unknown {
  if (typeof reply === 'string') return bytesOf(reply)
  if (Array.isArray(reply)) return reply.map(replyOf)
  if (typeof reply !== 'object' || reply === null) return reply
  const { status, integer, base64 } = reply as { status?: unknown; integer?: unknown; base64?: unknown }
  if (typeof status === 'string') return { text: latin1(status) }
  if (typeof integer === 'string' && /^-?\d+$/.test(integer)) return BigInt(integer)
  return typeof base64 === 'string' ? bytesOf({ base64 }) : null
}
