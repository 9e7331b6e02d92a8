import { catalog, faultKinds } from '../../../../src/faults/catalog.js'
import type { FaultKind } from '../../../../src/faults/fault.js'
import type { EntryOf } from '../../../../src/kernel/traffic-log.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { CoverageRow } from '../campaign/coverage-rows.js'
import { figureText } from '../campaign/coverage-text.js'
import type { DisruptionKind } from '../crash/disruption.js'

// Coverage of an exploration: the faults that were injected, each with its state and its injection point.

/** A fault that can be injected in a certain state at a certain injection point. */
export interface CoverageCell {
  /**
   * State of the message: its earlier attempts, such as `retry 1 of 3 after reset`. If `stateOf` is set, the app's own
   * state follows.
   */
  readonly state: string
  /** Kind of the fault. `assertCrashSafe()` reports the kind of the disruption. */
  readonly fault: FaultKind | DisruptionKind
  /**
   * Injection point and URL, such as `queue.delivery https://shop.test/orders`. `assertCrashSafe()` reports the name of
   * the crash plan.
   */
  readonly point: string
}

/** A fault that at least one run injected. */
export interface ReachedCell extends CoverageCell {
  /** Number of the first run that injected the fault, from 1. */
  readonly run: number
}

/**
 * Coverage of an exploration. A cell is a fault in a state at an injection point. Only states and points that occurred
 * in a run have cells.
 */
export interface Coverage {
  /** Number of cells in which the fault was injected. */
  readonly reached: number
  /** Number of all cells, with and without an injected fault. */
  readonly possible: number
  /** Cells in which the fault was injected, each with its first run. */
  readonly cells: readonly ReachedCell[]
  /** Cells that no run reached: the fault was possible, but was never injected. */
  readonly unreached: readonly CoverageCell[]
  /** Returns one line with the total, then the unreached cells. */
  toString(): string
}

export interface CoveragePoint {
  /** State and injection point, separated by a line break. */
  readonly place: string
  readonly struck: readonly FaultKind[]
}

/**
 * Returns the app's state at the beginning of a delivery, as a short text. Each different text is a separate state of
 * the coverage.
 */
export type StateOf = (sandbox: Sandbox) => string

const separator = '\n'
/**
 * Maximum number of attempts of one run that are examined. In a run that never ends, later attempts add nothing new.
 */
const maxAttempts = 1000

export function watchStates(sandbox: Sandbox, stateOf: StateOf | undefined): ReadonlyMap<number, string> {
  const states = new Map<number, string>()
  if (stateOf !== undefined)
    sandbox.traffic.subscribe((entry) => {
      if (entry.type === 'attempt' && entry.outcome === undefined) states.set(entry.seq, stateOf(sandbox))
    })
  return states
}

/** Counts the reached cells over many runs. */
export class CoverageTracker {
  /** Faults that were injected, by state and point. The number is the first run with the fault. */
  readonly #places: Map<string, Map<FaultKind, number>> = new Map()
  /** First run in which a state and point occurred, and the index of the injection point in that run. */
  readonly #seen = new Map<string, Pick<CoverageRow, 'seen' | 'moment'>>()
  readonly #kinds: readonly FaultKind[]
  #runs = 0

  /** @param kinds kinds of faults that can be injected @param run number of the first run, from 0 */
  constructor(kinds: readonly FaultKind[], run = 0) {
    this.#kinds = kinds
    this.#runs = run
  }

  /**
   * Counts the cells that a run reached.
   * @param states the app's states by the sequence number of the attempt
   * @returns the injection points of the run, in the order in which they occurred
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

/**
 * Adds the coverage as a property that is not enumerable, so that test runners do not print it and `toEqual()` ignores
 * it.
 */
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
    // The fault was not injected into a delivery, so it belongs to no attempt.
    if (!point.startsWith('queue.delivery') && !known.has(cause) && !holding.has(kind))
      elsewhere.push({ seq, place: ['', `${point} ${stable(target)}`].join(separator), struck: [kind] })
  }
  const met = new Map<string, string>()
  const moments = attempts.map((attempt) => {
    const { messageId, outcome, seq, cause = 0, reason: why } = attempt
    // A fault that delays a message counts for each attempt that has the same cause.
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

/** Returns the URL without its query and without IDs, which differ in each run. */
function stable(url: string): string {
  return url.split('?')[0]!.replace(/[\w-]*\d[\w-]{8,}/g, '*')
}
