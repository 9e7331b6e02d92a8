import type { JournalInput } from '../../../../src/kernel/input-journal.js'
import type { SandboxOrigin } from '../../../../src/sandbox/sandbox-internals.js'
import { decodeValue, encodeValue } from './journaled-values.js'

// What came into a tenant, as bytes. A record holds what was noted between two moments at which somebody took it, and
// never parts a step of the world. It is JSON: any version of Node reads it, and nothing else is as quick.

/** An input, and how many there are from it on that came within one step of the world, if it is the first of such. */
export interface JournalNote {
  readonly input: JournalInput
  within?: number
}

/** A world began: a new one, or after a reset or a load. What was before it does not matter any more. */
export interface JournalStart {
  readonly begun: SandboxOrigin
}

export type Note = JournalNote | JournalStart

/** The form of records: readers refuse another one. */
const version = 1

type JournalRow = readonly [
  kind: string,
  what: unknown,
  at: number,
  log: number,
  ended: number,
  timers: number,
  within?: number,
]

/** @throws TypeError for what has no form in bytes */
export function recordOf(notes: readonly Note[]): Uint8Array {
  const rows = notes.map((note): JournalRow | readonly [SandboxOrigin] => {
    if ('begun' in note) return [note.begun]
    const { kind, what, at, log, ended, timers } = note.input
    const kept = encodeValue(kind, what)
    if (note.within === undefined) return [kind, kept, at, log, ended, timers]
    return [kind, kept, at, log, ended, timers, note.within]
  })
  return Buffer.from(JSON.stringify([version, rows]))
}

/** @throws Error for what is no record of this version */
export function notesOf(record: Uint8Array): readonly Note[] {
  const [found, rows] = opened(record)
  if (found !== version || !Array.isArray(rows)) {
    throw new Error(
      `A record of the tenant is of version ${String(found)}, and this node reads version ${version}: run the same version of stuntdouble on all nodes.`,
    )
  }
  return (rows as (JournalRow | readonly [SandboxOrigin])[]).map((row): Note => {
    if (row.length === 1) return { begun: row[0] }
    const [kind, what, at, log, ended, timers, within] = row
    const input = {
      kind,
      what: decodeValue(kind as JournalInput['kind'], what),
      at,
      log,
      ended,
      timers,
    } as JournalInput
    return within === undefined ? { input } : { input, within }
  })
}

function opened(record: Uint8Array): readonly unknown[] {
  try {
    const { buffer, byteOffset, byteLength } = record
    const parsed: unknown = JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString())
    if (!Array.isArray(parsed)) throw new TypeError('it is no list')
    return parsed
  } catch (cause) {
    throw new Error('A record of the tenant is damaged: it cannot be read.', { cause })
  }
}
