import { InputColumns, type InputJournal, type InputListener } from '../../../../src/kernel/input-journal.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { type SandboxOrigin, sandboxInternals } from '../../../../src/sandbox/sandbox-internals.js'
import { type JournalNote, type JournalStart, type Note, notesOf, recordOf } from './journal-records.js'
import { recordsOf, segmentOf } from './segments.js'

/** The saved data of a sandbox: a snapshot, and the records after it. */
export interface SandboxRecords {
  readonly snapshot: Uint8Array | undefined
  readonly records: readonly Uint8Array[]
}

/** Maximum inputs of one record. Only a record with a longer atomic step has more inputs. */
const maxRecord = 1_000
/** A new snapshot is created only if the records since the last snapshot have at least this many bytes. */
const leastSnapshot = 16_384

/** Limits for the inputs of one sandbox. A node that takes the sandbox over must replay all inputs. */
export interface JournalLimits {
  readonly inputs: number
  /** Maximum bytes of all records. */
  readonly bytes: number
}

export const journalLimits: JournalLimits = { inputs: 1_000_000, bytes: 268_435_456 }

/**
 * A sandbox whose inputs are recorded while it runs. Replaying all inputs recreates the sandbox at the same virtual
 * instant and with the same future. New inputs are kept until `take()` encodes them as records.
 */
export class JournaledSandbox {
  readonly sandbox: Sandbox
  #journal: InputJournal | undefined
  #notes: Note[] = []
  #onRecords: (() => void) | undefined
  #gate: (() => Promise<void>) | undefined
  #hasGate = false
  readonly #waiting: (() => void)[] = []
  /**
   * Last snapshot, and the records after it. A reset or load clears both.
   */
  #taken: Uint8Array[] = []
  #snapshot: Uint8Array | undefined
  #isPacking = false
  /** Number of records that `take()` has returned since the sandbox was opened. */
  #count = 0
  #isDisposed = false
  /** Number of inputs, and bytes of their records, since the last reset or load. */
  #inputs = 0
  #bytes = 0
  readonly #limits: JournalLimits

  private constructor(sandbox: Sandbox, limits: JournalLimits) {
    this.sandbox = sandbox
    this.#limits = limits
  }

  /**
   * Opens a new sandbox, or continues a saved sandbox. If the saved clock was advancing, it stops at its current time.
   * Requests and streams without a response are lost, and deliveries in flight are sent again. Deliveries over the
   * network wait until `gate` is set. The value `undefined` starts them immediately.
   * @param make function that creates a new sandbox with the same options on each node
   * @throws Error if records cannot be read, or if their replay leads to another result
   */
  static async open(
    make: () => Sandbox,
    { snapshot, records }: SandboxRecords,
    limits: JournalLimits = journalLimits,
  ): Promise<JournaledSandbox> {
    const kept = [...(snapshot === undefined ? [] : recordsOf(snapshot)), ...records]
    const { begun, notes } = sinceBeginning(kept)
    const world = new JournaledSandbox(make(), limits)
    if (begun === undefined) world.#begin()
    else {
      world.#snapshot = snapshot
      world.#taken = [...records]
      world.#inputs = notes.length
      world.#bytes = kept.reduce((sum, { length }) => sum + length, 0)
      await sandboxInternals.of(world.sandbox).adopt(begun, inputsOf(notes), () => world.#listen())
    }
    world.sandbox.onReset(() => world.#begin())
    return world
  }

  /**
   * Function that is called when there are new inputs, after the current step of the sandbox. It is called again only
   * after the next `take()`.
   */
  get onRecords(): (() => void) | undefined {
    return this.#onRecords
  }

  set onRecords(call: (() => void) | undefined) {
    this.#onRecords = call
    if (this.#notes.length > 0) this.#tell()
  }

  /**
   * Function that is called before work outside of the sandbox, such as a delivery over the network. The work begins
   * when the returned promise resolves. If the promise rejects, the work never begins.
   */
  get gate(): (() => Promise<void>) | undefined {
    return this.#gate
  }

  set gate(gate: (() => Promise<void>) | undefined) {
    this.#gate = gate
    this.#hasGate = true
    for (const go of this.#waiting.splice(0)) go()
  }

  /**
   * Error message if the sandbox has reached the maximum number of inputs, otherwise `undefined`. A node that takes the
   * sandbox over could not replay more inputs in time. After a reset or load, the count starts again.
   */
  get full(): string | undefined {
    const { inputs, bytes } = this.#limits
    if (this.#inputs < inputs && this.#bytes < bytes) return undefined
    return `This tenant has too many inputs for another node to replay in time: ${this.#inputs} requests, deliveries and clock moves, ${this.#bytes} bytes. Reset it with POST /reset of its control API, or keep its state: send the response of GET /state to PUT /state.`
  }

  /**
   * Returns the records of all inputs since the last call, in order. Do not call this method from code that the sandbox
   * calls, because the current step of the sandbox has not ended then.
   */
  take(): readonly Uint8Array[] {
    const notes = this.#notes
    this.#notes = []
    return runsOf(notes).map((run) => {
      const record = recordOf(run)
      if ('begun' in run[0]!) this.#forget()
      this.#inputs += run.length
      this.#bytes += record.length
      this.#taken.push(record)
      this.#count++
      return record
    })
  }

  #forget(): void {
    this.#snapshot = undefined
    this.#taken = []
    this.#inputs = 0
    this.#bytes = 0
  }

  /**
   * Creates a snapshot: compresses all records that `take()` has returned so far. The snapshot contains every input, so
   * a replay takes as long as before.
   * @returns the snapshot, and the number of records from the opening of the sandbox to the end of the snapshot.
   *   Returns `undefined` if the records since the last snapshot are too short, or while another snapshot is being
   *   created
   */
  async snapshot(): Promise<{ readonly bytes: Uint8Array; readonly records: number } | undefined> {
    const [before, taken, records] = [this.#snapshot, this.#taken, this.#count]
    if (this.#isPacking || taken.reduce((sum, { length }) => sum + length, 0) < leastSnapshot) return undefined
    this.#isPacking = true
    const count = taken.length
    const segment = await segmentOf(taken).finally(() => {
      this.#isPacking = false
    })
    const bytes = before === undefined ? segment : Buffer.concat([before, segment])
    if (this.#taken === taken) {
      this.#snapshot = bytes
      this.#taken = taken.slice(count)
    }
    return { bytes, records }
  }

  dispose(): void {
    this.#isDisposed = true
    if (this.#journal !== undefined) this.#journal.listener = undefined
    this.sandbox.dispose()
  }

  /** Records the start of a new sandbox, and the inputs that its journal already contains. */
  #begin(): void {
    this.#note({ begun: sandboxInternals.of(this.sandbox).beginning() })
    const { inputs } = this.#listen()
    for (let index = 0; index < inputs.length; index++) this.#note({ input: inputs.get(index)! })
  }

  #listen(): { readonly inputs: InputColumns } {
    const journal = sandboxInternals.of(this.sandbox).journal()
    // Ignore inputs of a replaced sandbox.
    if (this.#journal !== undefined) this.#journal.listener = undefined
    this.#journal = journal
    if (journal === undefined) throw new Error('journal: a tenant of a cluster needs its journal. Omit journal: false.')
    const listener: InputListener = {
      input: (input) => this.#note({ input }),
      held: (count) => {
        const first = this.#notes.at(-count) as JournalNote | undefined
        if (count > 1 && first !== undefined) first.within = count
      },
    }
    journal.listener = listener
    journal.gate = () => this.#admit()
    return journal
  }

  #note(note: Note): void {
    if (this.#notes.push(note) === 1) this.#tell()
  }

  #tell(): void {
    if (this.#onRecords !== undefined) queueMicrotask(() => this.#onRecords?.())
  }

  async #admit(): Promise<void> {
    if (!this.#hasGate) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    await this.#gate?.()
    // The sandbox was disposed. The next owner of the tenant repeats this work, so the work must never begin here.
    if (this.#isDisposed) await new Promise(() => {})
  }
}

/** Returns the last creation, reset or load, and the inputs after it. */
function sinceBeginning(records: readonly Uint8Array[]): {
  begun: SandboxOrigin | undefined
  notes: readonly JournalNote[]
} {
  const all = records.flatMap(notesOf)
  const last = all.findLastIndex((note) => 'begun' in note)
  const begun = last < 0 ? undefined : (all[last] as JournalStart).begun
  if (begun === undefined && all.length > 0) throw new Error('The records of the tenant do not contain its creation.')
  return { begun, notes: all.slice(last + 1) as JournalNote[] }
}

function inputsOf(notes: readonly JournalNote[]): InputColumns {
  const inputs = new InputColumns()
  /** Atomic steps that have not ended, each with the index of its first input and the index after its last input. */
  const open: { readonly from: number; readonly end: number }[] = []
  for (const { input, within } of notes) {
    if (within !== undefined) open.push({ from: inputs.length, end: inputs.length + within })
    inputs.push(input.kind, input.what, input.at, input.log, input.ended, input.timers)
    while (open.at(-1)?.end === inputs.length) inputs.markAtomic(open.pop()!.from)
  }
  return inputs
}

function runsOf(notes: readonly Note[]): Note[][] {
  const runs: Note[][] = []
  let until = 0
  for (const [index, note] of notes.entries()) {
    const run = runs.at(-1)
    if (run === undefined || 'begun' in note || (run.length >= maxRecord && index >= until)) runs.push([note])
    else run.push(note)
    if ('within' in note && note.within !== undefined) until = Math.max(until, index + note.within)
  }
  return runs
}
