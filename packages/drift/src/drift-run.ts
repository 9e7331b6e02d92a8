import type { Dialect } from '../../../src/protocol/dialect.js'
import type { ComparedSystem, KnownDifference } from '../../../src/store/differences.js'
import type { Case, LeftOut, Need, Observation } from './case.js'
import { cleanUp } from './clean-up.js'
import { difference, type ObservedDifference, parts } from './compare-sides.js'
import { DoubleSide } from './double-side.js'
import type { DriftDestination } from './endpoint.js'
import { nameOf } from './named.js'
import { Away, NotSent, type RealConnection, RealSide } from './real-side.js'

export interface DriftOptions {
  readonly cases: readonly Case[]
  readonly connection: RealConnection
  readonly dialect: Dialect
  /** Prefix of the names of all resources that the run creates. */
  readonly prefix: string
  /** Endpoint that the real queue delivers to. */
  readonly endpoint?: DriftDestination | undefined
  /** The system that the double is compared with. The list of known differences depends on it. Default: `service`. */
  readonly against?: ComparedSystem | undefined
  /** What this run can provide to cases. A case that needs more is not run. */
  readonly has: ReadonlySet<Need>
  readonly onCase?: (name: string, index: number) => void
}

/** A difference, with the cases in which it was observed. */
export interface DriftFinding extends ObservedDifference {
  /** The known difference that explains this difference. `undefined` if the difference is new. */
  readonly named: KnownDifference | undefined
  /** Case and request of each occurrence. */
  readonly seen: readonly { readonly case: string; readonly asked: string }[]
}

export interface DriftReport {
  readonly findings: readonly DriftFinding[]
  /** Number of responses that were compared. `same` is the number of responses without a difference. */
  readonly compared: number
  readonly same: number
  /**
   * Number of different responses that are not reported. An earlier response with the same key or name already
   * differed, which may be the cause.
   */
  readonly following: number
  readonly leftOut: readonly LeftOut[]
  /** Cases that ended early, each with its reason. */
  readonly broken: readonly LeftOut[]
  /** Reason why the run ended early; `undefined` for a complete run. */
  readonly ended: string | undefined
  /** Descriptions of the resources that could not be deleted. */
  readonly remains: readonly string[]
}

/** Number of consecutive failures after which the service counts as unreachable. */
const maxFailures = 3

/** Runs every case on both sides and compares the observations. Resources that a case creates are always deleted. */
export async function drift(options: DriftOptions): Promise<DriftReport> {
  const { cases, connection, prefix, has, onCase, against = 'service' } = options
  const tally = new Tally(against)
  let failures = 0
  let ended: string | undefined
  for (const [index, one] of cases.entries()) {
    const missing = one.needs.find((need) => !has.has(need))
    if (missing !== undefined) {
      tally.leftOut.push({ name: one.name, because: `this run has no ${missing}` })
      continue
    }
    onCase?.(one.name, index)
    const failure = await compareCase(one, `${prefix}${index}_`, options, tally)
    if (connection.signal.aborted) ended = 'the run was interrupted'
    failures = failure instanceof Away ? failures + 1 : 0
    if (failures === maxFailures) ended = `the service could not be reached ${maxFailures} times in a row`
    if (ended !== undefined) break
  }
  return { ...tally, findings: [...tally.findings.values()], ended }
}

/** The results of all cases together. */
class Tally {
  readonly findings: Map<string, DriftFinding & { seen: { case: string; asked: string }[] }> = new Map()
  compared = 0
  same = 0
  following = 0
  readonly leftOut: LeftOut[] = []
  readonly broken: LeftOut[] = []
  readonly remains: string[] = []

  constructor(readonly against: ComparedSystem) {}

  /** Compares the observations that a case made on both sides. */
  add(title: string, prefix: string, ours: readonly Observation[], theirs: readonly Observation[]): void {
    const doubtful = new Set<string>()
    const plain = (found: string): string => found.replaceAll(prefix, '@')
    for (const [index, one] of ours.entries()) {
      const other = theirs[index]
      if (other === undefined) break
      this.compared++
      const found = parts(one, other).flatMap(([double, real]) => {
        const differing = difference(double, real)
        return differing === undefined ? [] : [{ differing, double, real }]
      })
      if (found.length === 0) {
        this.same++
        continue
      }
      const names = (one.argv ?? []).filter((word) => word.startsWith(prefix))
      if (names.some((name) => doubtful.has(name))) {
        this.following++
        continue
      }
      for (const name of names) doubtful.add(name)
      for (const { differing, double, real } of found) {
        const told = { what: plain(differing.what), double: plain(differing.double), real: plain(differing.real) }
        this.#note(told, nameOf(double, real, this.against), { case: title, asked: plain(double.asked) })
      }
    }
  }

  #note(found: ObservedDifference, named: KnownDifference | undefined, seen: { case: string; asked: string }): void {
    const key = JSON.stringify(named === undefined ? [found.what, likeOf(found, seen)] : named.name)
    const known = this.findings.get(key)
    if (known === undefined) this.findings.set(key, { ...found, named, seen: [seen] })
    else known.seen.push(seen)
  }
}

/**
 * Returns the key under which equal differences are merged. For error texts, statuses and headers, it consists of both
 * values. For other differences, it is the command or the name of the case.
 */
function likeOf(
  { what, double, real }: ObservedDifference,
  { case: name, asked }: { case: string; asked: string },
): string {
  if (/^(?:error text|status|header )/.test(what)) return `${double}\n${real}`
  if (/form$/.test(what)) return ''
  const command = /^[A-Z][A-Z._]+(?= |$)/.exec(asked)?.[0] ?? ''
  return /^(?:GET|POST|PUT|HEAD|DELETE|PATCH|OPTIONS)$/.test(command) || command === '' ? name : command
}

/**
 * Runs a case on both sides, deletes what it created, and compares the observations.
 * @returns the error that ended the case early on the real side, or `undefined`
 */
async function compareCase(
  one: Case,
  prefix: string,
  { connection, dialect, endpoint }: DriftOptions,
  tally: Tally,
): Promise<unknown> {
  const double = new DoubleSide(prefix, dialect, endpoint)
  const real = new RealSide(prefix, connection, endpoint)
  const ours: Observation[] = []
  const theirs: Observation[] = []
  const [ourEnd, theirEnd] = await Promise.all([
    ended(one.run(double, (seen) => ours.push(seen))),
    ended(one.run(real, (seen) => theirs.push(seen))),
  ])
  tally.remains.push(...(await cleanUp(real)))
  tally.add(one.name, prefix, ours, theirs)
  if (ourEnd !== undefined) tally.broken.push({ name: one.name, because: `the double: ${reasonOf(ourEnd)}` })
  if (theirEnd !== undefined) tally.broken.push({ name: one.name, because: reasonOf(theirEnd) })
  return theirEnd
}

async function ended(work: Promise<void>): Promise<unknown> {
  try {
    await work
    return undefined
  } catch (error) {
    return error
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof NotSent) return `not sent: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}
