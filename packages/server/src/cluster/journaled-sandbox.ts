import { InputColumns, type InputJournal, type InputListener } from '../../../../src/kernel/input-journal.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { type SandboxOrigin, sandboxInternals } from '../../../../src/sandbox/sandbox-internals.js'
import { type JournalNote, type JournalStart, type Note, notesOf, recordOf } from './journal-records.js'
import { recordsOf, segmentOf } from './segments.js'

/** What is kept of a world: a snapshot, and the records after it. */
export interface SandboxRecords {
  readonly snapshot: Uint8Array | undefined
  readonly records: readonly Uint8Array[]
}

/** Inputs of one record at most, unless one step of the world has more. */
const maxRecord = 1_000
/** Bytes of records that are worth a snapshot. */
const leastSnapshot = 16_384

/** How much may come into one world: whoever takes it over has to play all of it. */
export interface JournalLimits {
  readonly inputs: number
  /** Of records. */
  readonly bytes: number
}

export const journalLimits: JournalLimits = { inputs: 1_000_000, bytes: 268_435_456 }

/**
 * A world whose inputs are written down as bytes while it lives: whoever has all of them has the world, at the same
 * virtual instant and with the same future. It holds the inputs until somebody takes them.
 */
export class JournaledSandbox {
  readonly sandbox: Sandbox
  #journal: InputJournal | undefined
  #notes: Note[] = []
  #onRecords: (() => void) | undefined
  #gate: (() => Promise<void>) | undefined
  #hasGate = false
  readonly #waiting: (() => void)[] = []
  /** What was taken since the last snapshot, and what that was: of the present world only. */
  #taken: Uint8Array[] = []
  #snapshot: Uint8Array | undefined
  #isPacking = false
  /** Records taken since it was opened. */
  #count = 0
  #isDisposed = false
  /** What has come into the present world. */
  #inputs = 0
  #bytes = 0
  readonly #limits: JournalLimits

  private constructor(sandbox: Sandbox, limits: JournalLimits) {
    this.sandbox = sandbox
    this.#limits = limits
  }

  /**
   * A new world, or the one that was kept, which this one goes on as: a move of time that was under way ends where it
   * stands, requests and streams without an answer are gone, deliveries in flight are sent again.
   * Work outside of the world waits until `gate` is set, if only to `undefined`.
   * @param make the same sandbox on each node, to which nothing has been done
   * @throws Error for records that cannot be read, or that lead elsewhere when they are played
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

  /** Called when there is something to take, behind the step of the world that brought it: once until `take()`. */
  get onRecords(): (() => void) | undefined {
    return this.#onRecords
  }

  set onRecords(call: (() => void) | undefined) {
    this.#onRecords = call
    if (this.#notes.length > 0) this.#tell()
  }

  /**
   * Work outside of the world, such as a delivery over the network, begins only when this has resolved; never when it
   * rejects.
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
   * Why the world takes nothing more, as a sentence: more came into it than whoever takes it over can play. A reset or a
   * load begins anew.
   */
  get full(): string | undefined {
    const { inputs, bytes } = this.#limits
    if (this.#inputs < inputs && this.#bytes < bytes) return undefined
    return `More has come into this tenant than a node could take over in time: ${this.#inputs} requests, deliveries and moves of time, ${this.#bytes} bytes. Begin anew with POST /reset of its control API, or go on from what it holds: PUT /state with what GET /state answers.`
  }

  /** What has not been taken yet, in order. Never call it from code that the world calls: its step is not over there. */
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

  /** A world began: those before it do not matter any more. */
  #forget(): void {
    this.#snapshot = undefined
    this.#taken = []
    this.#inputs = 0
    this.#bytes = 0
  }

  /**
   * What stands for everything that had been taken when it was asked for: the same records, compressed. Nothing of the world
   * is lost by it, and playing them takes as long as before.
   * @returns it, and how many records since the world was opened it stands for; `undefined` when it is not worth it yet
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

  /** A world as new: whatever came into it until now came after it began. */
  #begin(): void {
    this.#note({ begun: sandboxInternals.of(this.sandbox).beginning() })
    const { inputs } = this.#listen()
    for (let index = 0; index < inputs.length; index++) this.#note({ input: inputs.get(index)! })
  }

  #listen(): { readonly inputs: InputColumns } {
    const journal = sandboxInternals.of(this.sandbox).journal()
    // What still comes into a world that was replaced is nobody's business.
    if (this.#journal !== undefined) this.#journal.listener = undefined
    this.#journal = journal
    if (journal === undefined) throw new Error('A tenant of a cluster needs its journal: leave journal: false out.')
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
    // It is another one's now, who does this again.
    if (this.#isDisposed) await new Promise(() => {})
  }
}

/** The last world that began, and what came into it. */
function sinceBeginning(records: readonly Uint8Array[]): {
  begun: SandboxOrigin | undefined
  notes: readonly JournalNote[]
} {
  const all = records.flatMap(notesOf)
  const last = all.findLastIndex((note) => 'begun' in note)
  const begun = last < 0 ? undefined : (all[last] as JournalStart).begun
  if (begun === undefined && all.length > 0) throw new Error('The records of the tenant lack their beginning.')
  return { begun, notes: all.slice(last + 1) as JournalNote[] }
}

function inputsOf(notes: readonly JournalNote[]): InputColumns {
  const inputs = new InputColumns()
  /** Steps that are open: from which input on, and the place behind their last. */
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
