import { catalog, faultKinds } from '../../../../src/faults/catalog.js'
import type { FaultKind } from '../../../../src/faults/fault.js'
import type { EntryOf } from '../../../../src/kernel/traffic-log.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { CoverageRow } from '../campaign/coverage-rows.js'
import { figureText } from '../campaign/coverage-text.js'
import type { DisruptionKind } from '../crash/disruption.js'

// How much of what can go wrong an exploration has seen: in which states which faults struck at which points.

/** Something that can go wrong somewhere at some time. */
export interface CoverageCell {
  /** What had become of the message until then, and the app's own state where one is told: `retry 1 of 3 after reset`. */
  readonly state: string
  /** The kind of the fault; of `assertCrashSafe()` the kind of the disturbance. */
  readonly fault: FaultKind | DisruptionKind
  /** Where it struck: `queue.delivery https://shop.test/orders`; of `assertCrashSafe()` the name of the schedule. */
  readonly point: string
}

/** Something that went wrong in an exploration. */
export interface ReachedCell extends CoverageCell {
  /** In which run first, from 1. */
  readonly run: number
}

/** What an exploration has reached, out of each fault in each state at each point that occurred. */
export interface Coverage {
  readonly reached: number
  readonly possible: number
  readonly cells: readonly ReachedCell[]
  /** What never came: a fault that could have struck in a state and at a point that occurred, and did not. */
  readonly unreached: readonly CoverageCell[]
  /** The figure in a line, then what was never reached, by state. */
  toString(): string
}

/** A moment of a run at which a fault was asked for. */
export interface CoveragePoint {
  /** State and point: what cells have in common. */
  readonly place: string
  readonly struck: readonly FaultKind[]
}

/** What an app says of its state when a delivery begins, in few words: only so many states are told apart. */
export type StateOf = (sandbox: Sandbox) => string

const separator = '\n'
/** Attempts of one run that are looked at: a run that goes on for ever shows nothing new. */
const maxAttempts = 1000

/** Hears of the app's state at the start of each attempt. */
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
  /** Faults that struck, by place: in which run first. */
  readonly #places: Map<string, Map<FaultKind, number>> = new Map()
  /** In which run a place occurred first, and at which moment of it. */
  readonly #seen = new Map<string, Pick<CoverageRow, 'seen' | 'moment'>>()
  readonly #kinds: readonly FaultKind[]
  #runs = 0

  /** @param kinds that can strike @param run the number of the first run, from 0 */
  constructor(kinds: readonly FaultKind[], run = 0) {
    this.#kinds = kinds
    this.#runs = run
  }

  /** @returns the moments of the run, in the order in which rules are asked */
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

  /** What was reached, as plain data. */
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

/** Puts the figure where assertions over the counts, and what runners print, do not see each of its cells. */
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
    // It struck something that is no delivery.
    if (!point.startsWith('queue.delivery') && !known.has(cause) && !holding.has(kind))
      elsewhere.push({ seq, place: ['', `${point} ${stable(target)}`].join(separator), struck: [kind] })
  }
  const met = new Map<string, string>()
  const moments = attempts.map((attempt) => {
    const { messageId, outcome, seq, cause = 0, reason: why } = attempt
    // What held it back struck whatever it is due to.
    const held = (struckBy.get(cause) ?? []).filter((kind) => holding.has(kind))
    const struck = [...held, ...(struckBy.get(seq) ?? []).filter((kind) => !holding.has(kind))]
    const state = [why, met.get(messageId), states.get(seq)].filter(Boolean).join(', ')
    met.set(messageId, `after ${struck.join(' + ') || (outcome?.error ?? outcome?.status ?? 'no end')}`)
    return { seq, place: [state, pointOf(attempt)].join(separator), struck }
  })
  return elsewhere.length === 0 ? moments : [...moments, ...elsewhere].sort((a, b) => a.seq - b.seq)
}

/** They strike before the attempt begins. */
const holding: ReadonlySet<FaultKind> = new Set(faultKinds.filter((kind) => catalog[kind].effect === 'holds'))

function pointOf({ kind, url, workflowRunId }: EntryOf<'attempt'>): string {
  const point =
    kind === 'message' ? (workflowRunId === undefined ? 'queue.delivery' : 'workflow.step') : 'queue.callback'
  return `${point} ${stable(url)}`
}

/** Without what is different in each run. */
function stable(url: string): string {
  return url.split('?')[0]!.replace(/[\w-]*\d[\w-]{8,}/g, '*')
}
