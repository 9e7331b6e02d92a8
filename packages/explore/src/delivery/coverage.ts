import { catalog, faultKinds } from '../../../../src/faults/catalog.js'
import type { FaultKind } from '../../../../src/faults/fault.js'
import type { EntryOf } from '../../../../src/kernel/traffic-log.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { CoverageRow } from '../campaign/coverage-rows.js'
import { figureText } from '../campaign/coverage-text.js'
import type { DisruptionKind } from '../crash/disruption.js'

// Coverage of an exploration: which faults were injected in which states at which points.

/** A fault that is possible in one state at one point. */
export interface CoverageCell {
  /** Earlier attempts of the message, and the app's own state if `stateOf` is set: `retry 1 of 3 after reset`. */
  readonly state: string
  /** Kind of the fault; for `assertCrashSafe()` the kind of the disruption. */
  readonly fault: FaultKind | DisruptionKind
  /**
   * Where it was injected: `queue.delivery https://shop.test/orders`; for `assertCrashSafe()` the name of the crash
   * plan.
   */
  readonly point: string
}

/** A fault that was injected in an exploration. */
export interface ReachedCell extends CoverageCell {
  /** Number of the first run that injected the fault, from 1. */
  readonly run: number
}

/** Coverage of an exploration. Each fault in each state at each point that occurred is one cell. */
export interface Coverage {
  /** Number of cells in which the fault was injected. */
  readonly reached: number
  /** Number of all cells, with and without an injected fault. */
  readonly possible: number
  /** Cells in which the fault was injected, each with its first run. */
  readonly cells: readonly ReachedCell[]
  /** Faults that could have been injected in a state and at a point that occurred, and were not. */
  readonly unreached: readonly CoverageCell[]
  /** Returns the total in one line, then the unreached faults by state. */
  toString(): string
}

/** An injection point of a run at which rules were evaluated. */
export interface CoveragePoint {
  /** State and point, separated by a line break. */
  readonly place: string
  readonly struck: readonly FaultKind[]
}

/** Returns the app's state when a delivery begins, as a short text. The number of distinct states is limited. */
export type StateOf = (sandbox: Sandbox) => string

const separator = '\n'
/** Maximum number of attempts of one run that are examined. A run that never ends adds nothing new after that. */
const maxAttempts = 1000

/** Records the app's state at the start of each attempt. */
export function watchStates(sandbox: Sandbox, stateOf: StateOf | undefined): ReadonlyMap<number, string> {
  const states = new Map<number, string>()
  if (stateOf !== undefined)
    sandbox.traffic.subscribe((entry) => {
      if (entry.type === 'attempt' && entry.outcome === undefined) states.set(entry.seq, stateOf(sandbox))
    })
  return states
}

/** Counts cells over many runs. */
export class CoverageTracker {
  /** Injected faults by state and point, each with the number of the first run that injected it. */
  readonly #places: Map<string, Map<FaultKind, number>> = new Map()
  /** The run in which a state and point occurred first, and the index of the injection point in that run. */
  readonly #seen = new Map<string, Pick<CoverageRow, 'seen' | 'moment'>>()
  readonly #kinds: readonly FaultKind[]
  #runs = 0

  /**
   * @param kinds kinds of faults that can be injected
   * @param run number of the first run, from 0
   */
  constructor(kinds: readonly FaultKind[], run = 0) {
    this.#kinds = kinds
    this.#runs = run
  }

  /**
   * Counts the injection points of a run that has ended.
   * @param states the app's state at the start of each attempt, by the sequence number of the attempt's entry
   * @returns the injection points, in the order of their evaluation
   */
  note(sandbox: Sandbox, states: ReadonlyMap<number, string> = new Map()): readonly CoveragePoint[] {
    const moments = momentsOf(sandbox, states)
    this.#runs++
    for (const [moment, { place, struck }] of moments.entries()) {
      const kinds = this.#places.get(place) ?? new Map<FaultKind, number>()
      if (kinds.size === 0) this.#places.set(place, kinds)
      if (!this.#seen.has(place)) this.#seen.set(place, { seen: this.#runs, moment })
      for (const kind of struck) if (!kinds.has(kind)) kinds.set(kind, this.#runs)
    }
    return moments
  }

  /** Returns the coverage as plain data. */
  rows(): readonly CoverageRow[] {
    return [...this.#places].map(([place, struck]) => {
      const [state = '', point = ''] = place.split(separator)
      const could = new Set([...this.#kinds.filter((kind) => canStrike(kind, point)), ...struck.keys()])
      return { state, point, ...this.#seen.get(place)!, could: [...could], struck: Object.fromEntries(struck) }
    })
  }

  figure(): Coverage {
    const rows = this.rows()
    const cells: ReachedCell[] = []
    const never: CoverageCell[] = []
    for (const { state, point, could, struck } of rows) {
      for (const fault of could as readonly FaultKind[]) {
        const run = struck[fault]
        if (run === undefined) never.push({ state, fault, point })
        else cells.push({ state, fault, point, run })
      }
    }
    const [reached, possible] = [cells.length, cells.length + never.length]
    return {
      reached,
      possible,
      cells,
      unreached: never,
      toString: () => figureText(reached, possible, rows.length, never),
    }
  }
}

/** Adds the coverage as a property that is not enumerable: assertions on the counts, and test runners, ignore it. */
export function withCoverage<T extends object>(result: T, figure: Coverage): T & { coverage: Coverage } {
  return Object.defineProperty(result, 'coverage', { value: figure }) as never
}

function canStrike(kind: FaultKind, point: string): boolean {
  return catalog[kind].points.some((one) => point.startsWith(one))
}

const kindNames: ReadonlySet<string> = new Set(faultKinds)

function momentsOf(sandbox: Sandbox, states: ReadonlyMap<number, string>): readonly CoveragePoint[] {
  const { traffic } = sandbox
  const attempts = traffic.ofType('attempt').slice(0, maxAttempts)
  const known = new Set<number>(attempts.map(({ seq }) => seq))
  const struckBy = new Map<number, FaultKind[]>()
  const elsewhere: (CoveragePoint & { readonly seq: number })[] = []
  for (const { seq, cause = 0, fault, point, target } of traffic.ofType('fault')) {
    if (!kindNames.has(fault)) continue
    const kind = fault as FaultKind
    struckBy.set(cause, [...(struckBy.get(cause) ?? []), kind])
    // The fault was injected into something other than a delivery.
    if (!point.startsWith('queue.delivery') && !known.has(cause) && !holding.has(kind))
      elsewhere.push({ seq, place: ['', `${point} ${stable(target)}`].join(separator), struck: [kind] })
  }
  const met = new Map<string, string>()
  const moments = attempts.map((attempt) => {
    const { messageId, outcome, seq, cause = 0, reason: why } = attempt
    // A fault that held the message back counts for each attempt with the same cause.
    const held = (struckBy.get(cause) ?? []).filter((kind) => holding.has(kind))
    const struck = [...held, ...(struckBy.get(seq) ?? []).filter((kind) => !holding.has(kind))]
    const state = [why, met.get(messageId), states.get(seq)].filter(Boolean).join(', ')
    met.set(messageId, `after ${struck.join(' + ') || (outcome?.error ?? outcome?.status ?? 'no end')}`)
    return { seq, place: [state, pointOf(attempt)].join(separator), struck }
  })
  return elsewhere.length === 0 ? moments : [...moments, ...elsewhere].sort((a, b) => a.seq - b.seq)
}

/** Kinds of faults that take effect before the attempt begins. */
const holding: ReadonlySet<FaultKind> = new Set(faultKinds.filter((kind) => catalog[kind].effect === 'holds'))

function pointOf({ kind, url, workflowRunId }: EntryOf<'attempt'>): string {
  const point =
    kind === 'message' ? (workflowRunId === undefined ? 'queue.delivery' : 'workflow.step') : 'queue.callback'
  return `${point} ${stable(url)}`
}

/** Returns the URL without parts that differ in each run. */
function stable(url: string): string {
  return url.split('?')[0]!.replace(/[\w-]*\d[\w-]{8,}/g, '*')
}
