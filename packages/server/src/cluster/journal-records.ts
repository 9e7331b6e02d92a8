import type { JournalInput } from '../../../../src/kernel/input-journal.js'
import type { SandboxOrigin } from '../../../../src/sandbox/sandbox-internals.js'
import { decodeValue, encodeValue } from './journaled-values.js'

// Encodes the inputs of a tenant as records. A record contains consecutive inputs. All inputs of an atomic step are in
// the same record. The format is JSON, because JSON is the fastest format and every version of Node.js can read it.

/** An input of a sandbox. For the first input of an atomic step, `within` is the number of inputs of that step. */
export interface JournalNote {
  readonly input: JournalInput
  within?: number
}

/** The start of a sandbox: its creation, a reset or a load. A replay needs no inputs before the start. */
export interface JournalStart {
  readonly begun: SandboxOrigin
}

export type Note = JournalNote | JournalStart

/** Version of the format of records. Other versions are rejected. */
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

/** @throws TypeError for an input that cannot be encoded */
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

/** @throws Error for a record that is damaged or of another version */
export function notesOf(record: Uint8Array): readonly Note[] {
  const [found, rows] = opened(record)
  if (found !== version || !Array.isArray(rows)) {
    throw new Error(
      `A record of the tenant must have version ${version} (got ${String(found)}). Run the same version of stuntdouble on all nodes.`,
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
    if (!Array.isArray(parsed)) throw new TypeError('it is not a list')
    return parsed
  } catch (cause) {
    throw new Error('A record of the tenant is damaged and cannot be read.', { cause })
  }
}
