import { formatDuration } from '../kernel/duration.js'
import type { HeaderList } from '../kernel/http.js'
import { parsedJson } from '../kernel/parsed-json.js'
import type { Entry } from '../kernel/traffic-log.js'
import { describeEntry } from './describe.js'
import type { Redaction } from './redaction.js'
import { excerpt, plainText } from './safe-text.js'
import { shortNames } from './short-names.js'
import { timeOf } from './shown-times.js'
import { entryWriter, type TraceEntry } from './trace.js'
import type { Traffic } from './traffic-view.js'

/** One difference between two traces. */
export type EntryDiff =
  | {
      /** The entry exists only in the first trace. */
      readonly kind: 'removed'
      /** Entry of the first trace. */
      readonly before: Entry
    }
  | {
      /** The entry exists only in the second trace. */
      readonly kind: 'added'
      /** Entry of the second trace. */
      readonly after: Entry
    }
  | {
      /** Both traces have an entry with the same subject, but some fields differ. */
      readonly kind: 'changed'
      /** Entry of the first trace. */
      readonly before: Entry
      /** Entry of the second trace. */
      readonly after: Entry
      /** Fields with different values. */
      readonly fields: readonly FieldChange[]
    }

/** A field with different values. */
export interface FieldChange {
  /** Path of the field: `outcome.status`, `headers.content-type`, `body.id`, and so on. */
  readonly path: string
  /** Value in the first trace; `undefined` if the field is absent. */
  readonly before: unknown
  /** Value in the second trace; `undefined` if the field is absent. */
  readonly after: unknown
}

/** The difference between two traces. */
export interface TraceDiff {
  /** Whether the traces are equal. If so, `context` and `changes` are empty. */
  readonly equal: boolean
  /** Differences between the two sandboxes, such as `seed`. */
  readonly context: readonly FieldChange[]
  /** Entries that only one trace has, and entries whose fields differ, in order. */
  readonly changes: readonly EntryDiff[]
}

/**
 * Compares two traces. Entries with the same subject are compared with each other, in order. Differences in entry
 * numbers, IDs and the start date are ignored.
 * @example
 * const before = loadTrace(readFileSync('before.json', 'utf8'))
 * expect(diffTraces(before, sandbox.traffic).equal).toBe(true)
 */
export function diffTraces(before: Traffic, after: Traffic): TraceDiff {
  const old = readable(before)
  const now = readable(after)
  const names = new Renaming()
  const changes: EntryDiff[] = []
  for (const [left, right] of paired(old, now)) {
    if (left === undefined) changes.push({ kind: 'added', after: right!.entry })
    else if (right === undefined) changes.push({ kind: 'removed', before: left.entry })
    else {
      const fields: FieldChange[] = []
      compare('', comparable(left), comparable(right), fields, names)
      if (fields.length > 0) changes.push({ kind: 'changed', before: left.entry, after: right.entry, fields })
    }
  }
  const world: FieldChange[] = []
  if (before.context.seed !== after.context.seed) {
    world.push({ path: 'seed', before: before.context.seed, after: after.context.seed })
  }
  return { equal: changes.length === 0 && world.length === 0, context: world, changes }
}

interface Readable {
  readonly entry: Entry
  readonly plain: TraceEntry
  /**
   * Text that identifies the subject of the entry, without IDs. Two entries can form a pair if their keys are equal.
   */
  readonly key: string
  readonly start: number
}

function readable(view: Traffic): Readable[] {
  const writer = entryWriter(view.redaction(), Number.POSITIVE_INFINITY)
  const { entries } = view
  const start = entries[0]?.at ?? 0
  return entries.map((entry) => {
    const plain = writer.entry(entry)
    return { entry, plain, key: keyOf(plain), start }
  })
}

const idShape = /\b(?:msg|scd|wfr|jwt)_[A-Za-z0-9_]{10,}|\b\d{13}-\d+\b/g

/** Fields that together identify the subject of an entry. Fields with IDs are excluded. */
const tellingFields =
  'type service database method url argv event key kind retried resource name change point fault decision move'.split(
    ' ',
  )

function keyOf(plain: TraceEntry): string {
  const parts = tellingFields.map((name) => {
    const value = plain[name]
    // A command is identified by its name and its first argument. Its other arguments may differ between the traces.
    return name === 'argv' && Array.isArray(value) ? value.slice(0, 2) : value
  })
  if (plain.type === 'message') parts.push(plain.state)
  return JSON.stringify(parts).replace(idShape, '')
}

/**
 * Pairs entries of two traces. The pairs are a longest common subsequence of their keys, found with Myers' greedy
 * algorithm. Other entries stay unpaired.
 */
function paired(old: readonly Readable[], now: readonly Readable[]): [Readable | undefined, Readable | undefined][] {
  let head = 0
  while (head < old.length && head < now.length && old[head]!.key === now[head]!.key) head++
  let tail = 0
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail]!.key === now[now.length - 1 - tail]!.key
  )
    tail++
  const same = (from: number, to: number): [Readable, Readable][] =>
    Array.from({ length: to - from }, (_, index) => [old[from + index]!, now[now.length - old.length + from + index]!])
  const first: [Readable, Readable][] = Array.from({ length: head }, (_, index) => [old[index]!, now[index]!])
  const middle = shortestEdit(old.slice(head, old.length - tail), now.slice(head, now.length - tail))
  return [...first, ...middle, ...same(old.length - tail, old.length)]
}

/**
 * Maximum number of differences for which entries are paired. With more differences, all entries between the equal ends
 * count as removed and added.
 */
const maxEdits = 2000

function shortestEdit(
  old: readonly Readable[],
  now: readonly Readable[],
): [Readable | undefined, Readable | undefined][] {
  const most = Math.min(old.length + now.length, maxEdits)
  const reached: Map<number, number>[] = []
  const furthest = new Map<number, number>([[1, 0]])
  for (let edits = 0; edits <= most; edits++) {
    reached.push(new Map(furthest))
    for (let line = -edits; line <= edits; line += 2) {
      const down =
        line === -edits || (line !== edits && (furthest.get(line - 1) ?? -1) < (furthest.get(line + 1) ?? -1))
      let x = down ? (furthest.get(line + 1) ?? 0) : (furthest.get(line - 1) ?? 0) + 1
      while (x < old.length && x - line < now.length && old[x]!.key === now[x - line]!.key) x++
      furthest.set(line, x)
      if (x >= old.length && x - line >= now.length) return walked(old, now, reached, edits)
    }
  }
  return [
    ...old.map((one): [Readable, undefined] => [one, undefined]),
    ...now.map((one): [undefined, Readable] => [undefined, one]),
  ]
}

function walked(
  old: readonly Readable[],
  now: readonly Readable[],
  reached: readonly ReadonlyMap<number, number>[],
  edits: number,
): [Readable | undefined, Readable | undefined][] {
  const pairs: [Readable | undefined, Readable | undefined][] = []
  let [x, y] = [old.length, now.length]
  for (let left = edits; left >= 0; left--) {
    const furthest = reached[left]!
    const line = x - y
    const down = line === -left || (line !== left && (furthest.get(line - 1) ?? -1) < (furthest.get(line + 1) ?? -1))
    const before = down ? line + 1 : line - 1
    const beforeX = left === 0 ? 0 : (furthest.get(before) ?? 0)
    const beforeY = left === 0 ? 0 : beforeX - before
    const [startX, startY] = left === 0 ? [0, 0] : down ? [beforeX, beforeY + 1] : [beforeX + 1, beforeY]
    while (x > startX && y > startY) pairs.push([old[--x], now[--y]])
    if (left === 0) break
    if (down) pairs.push([undefined, now[--y]])
    else pairs.push([old[--x], undefined])
  }
  return pairs.reverse()
}

/** Pairs of IDs, one from each trace. After an ID has been paired, it can have no other counterpart. */
class Renaming {
  readonly #there = new Map<string, string>()
  readonly #back = new Map<string, string>()

  same(one: string, other: string): boolean {
    const [there, back] = [this.#there.get(one), this.#back.get(other)]
    if (there === undefined && back === undefined) {
      this.#there.set(one, other)
      this.#back.set(other, one)
      return true
    }
    return there === other && back === one
  }
}

/** Returns an entry without numbers of entries, and with times relative to the start of its trace. */
function comparable({ plain, start }: Readable): unknown {
  const { seq, cause, endedAfterSeq, ...rest } = plain
  return { ...rest, at: plain.at - start, ...relative(rest, start) }
}

function relative(fields: Record<string, unknown>, start: number): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const name of ['notBefore', 'to'])
    if (typeof fields[name] === 'number') out[name] = (fields[name] as number) - start
  for (const name of ['response', 'outcome']) {
    const part = fields[name] as { at: number; next?: { at: number } } | undefined
    if (part !== undefined) {
      out[name] = {
        ...part,
        at: part.at - start,
        ...(part.next && { next: { ...part.next, at: part.next.at - start } }),
      }
    }
  }
  return out
}

type Plain = Record<string, unknown>

function compare(path: string, before: unknown, after: unknown, into: FieldChange[], names: Renaming): void {
  if (typeof before === 'string' && typeof after === 'string') {
    // Call this for equal texts, too: their equal IDs become pairs.
    if (sameText(before, after, names)) return
  } else if (before === after) return
  if (isHeaders(path, before) && isHeaders(path, after)) {
    compare(path, headerMap(before), headerMap(after), into, names)
    return
  }
  const [left, right] = [structure(path, before), structure(path, after)]
  if (left === undefined || right === undefined || Array.isArray(left) !== Array.isArray(right)) {
    into.push({ path, before, after })
    return
  }
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const below = Array.isArray(left) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
    compare(
      below,
      Object.hasOwn(left, name) ? left[name] : undefined,
      Object.hasOwn(right, name) ? right[name] : undefined,
      into,
      names,
    )
  }
}

/**
 * Returns a value whose fields can be compared one by one. A JSON body is parsed. Returns `undefined` if the value has
 * no fields.
 */
function structure(path: string, value: unknown): Plain | undefined {
  if (typeof value === 'object' && value !== null) return value as Plain
  if (typeof value !== 'string' || !/(?:^|\.)body$/.test(path) || !/^\s*[[{]/.test(value)) return undefined
  return parsedJson(value) as Plain | undefined
}

function sameText(before: string, after: string, names: Renaming): boolean {
  const [left, right] = [before.match(idShape) ?? [], after.match(idShape) ?? []]
  if (left.length === 0 || left.length !== right.length) return before === after
  if (before.replace(idShape, '\0') !== after.replace(idShape, '\0')) return false
  return left.every((id, index) => names.same(id, right[index]!))
}

function isHeaders(path: string, value: unknown): value is HeaderList {
  return /(?:^|\.)headers$/.test(path) && Array.isArray(value)
}

/** Returns headers without signatures. Signatures differ between traces, because they depend on IDs and times. */
function headerMap(headers: HeaderList): Plain {
  return Object.fromEntries(
    headers.filter(([name]) => !/-signature$/i.test(name)).map(([name, value]) => [name.toLowerCase(), value]),
  )
}

const changesShown = 200
const fieldsShown = 12

/**
 * Formats a difference as text, with one paragraph per entry: `-` for a removed entry, `+` for an added entry, `~` for
 * an entry with changed fields.
 * @example
 * const before = loadTrace(readFileSync('before.json', 'utf8'))
 * console.log(formatTraceDiff(diffTraces(before, sandbox.traffic), before, sandbox.traffic))
 */
export function formatTraceDiff(difference: TraceDiff, before: Traffic, after: Traffic): string {
  if (difference.equal) return 'The traces are equal.'
  const lines = difference.context.map(({ path, before, after }) => `${path}: ${shown(before)} → ${shown(after)}`)
  const writers = { before: wordingOf(before), after: wordingOf(after) }
  for (const change of difference.changes.slice(0, changesShown)) {
    if (change.kind === 'removed') lines.push(`- ${headOf(change.before, writers.before)}`)
    else if (change.kind === 'added') lines.push(`+ ${headOf(change.after, writers.after)}`)
    else {
      lines.push(`~ ${headOf(change.after, writers.after)}`)
      for (const { path, before, after } of change.fields.slice(0, fieldsShown)) {
        lines.push(`    ${excerpt(path, 80)}: ${fieldText(path, before)} → ${fieldText(path, after)}`)
      }
      if (change.fields.length > fieldsShown) lines.push(`    … and ${change.fields.length - fieldsShown} more fields`)
    }
  }
  const { length } = difference.changes
  if (length > changesShown) lines.push(`… and ${length - changesShown} more entries`)
  const count = (kind: EntryDiff['kind']): number => difference.changes.filter((change) => change.kind === kind).length
  lines.push('', `${count('removed')} removed, ${count('added')} added, ${count('changed')} changed`)
  return lines.join('\n')
}

interface Words {
  readonly name: (id: string) => string
  readonly redaction: Redaction
}

function wordingOf(view: Traffic): Words {
  return { name: shortNames(view.entries), redaction: view.redaction() }
}

function headOf(entry: Entry, words: Words): string {
  return `#${entry.seq} ${timeOf(entry.at)} ${describeEntry(entry, { bodies: 0, ...words }).head}`
}

function fieldText(path: string, value: unknown): string {
  if (typeof value === 'number' && /(?:^|\.)(?:at|notBefore|to)$/.test(path)) return `T+${formatDuration(value)}`
  return shown(value)
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  return excerpt(plainText(JSON.stringify(value) ?? String(value)), 160)
}
