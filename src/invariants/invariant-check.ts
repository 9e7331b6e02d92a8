import { checkOptionNames, nearestName } from '../kernel/nearest-name.js'
import type { Entry } from '../kernel/traffic-log.js'
import type { Findings, Invariant, InvariantViolation } from './invariant.js'
import type { CheckedSandbox } from './invariant-index.js'
import { InvariantIndex } from './invariant-index.js'
import { invariants } from './invariant-table.js'

/** Options of a check that select invariants. Default: all invariants. */
export interface InvariantOptions {
  /** Names of the invariants to check. Default: all. */
  readonly only?: string | readonly string[]
  /** Names of invariants that are not checked. Default: none. */
  readonly except?: string | readonly string[]
}

/** Result of an invariant check. */
export interface InvariantReport {
  /** Names of the invariants that were checked. */
  readonly checked: readonly string[]
  /** Violations that were found, at most 10 per invariant. Empty if all checked invariants hold. */
  readonly violations: readonly InvariantViolation[]
  /** What could not be checked, with the reason. For example, the log has dropped the entries that a check needs. */
  readonly unknown: readonly { readonly invariant: string; readonly reason: string }[]
}

/** Maximum number of reported violations per invariant, because one cause often produces many. */
const listedAtMost = 10

/**
 * Checks the selected invariants of a sandbox.
 * @throws TypeError when the name of an invariant is unknown
 */
export function assertInvariantsOf(world: CheckedSandbox, options: InvariantOptions = {}): InvariantReport {
  checkInvariantOptions('sandbox.checkInvariants()', options)
  return checkInvariantsOf(world, chosenOf(options))
}

/**
 * Checks the options.
 * @throws TypeError with the nearest valid name when an option or an invariant is unknown
 */
export function checkInvariantOptions(called: string, options: InvariantOptions): void {
  checkOptionNames(called, options, ['only', 'except'])
  chosenOf(options)
}

/** Checks the given invariants of a sandbox. */
export function checkInvariantsOf(world: CheckedSandbox, chosen: readonly Invariant[]): InvariantReport {
  const history = new InvariantIndex(world)
  const breaches: InvariantViolation[] = []
  const unknown: { invariant: string; reason: string }[] = []
  for (const invariant of chosen) {
    const findings = new InvariantFindings(invariant)
    invariant.examine(history, findings)
    breaches.push(...findings.breaches)
    for (const reason of findings.reasons) unknown.push({ invariant: invariant.name, reason })
  }
  return { checked: chosen.map(({ name }) => name), violations: breaches, unknown }
}

class InvariantFindings implements Findings {
  readonly breaches: InvariantViolation[] = []
  readonly reasons = new Set<string>()

  constructor(readonly invariant: Invariant) {}

  broken(sentence: string, ...entries: readonly (Entry | undefined)[]): void {
    if (this.breaches.length >= listedAtMost) return
    const { name, guarantee: promise } = this.invariant
    const told = [...new Set(entries.filter((entry) => entry !== undefined))].sort((one, other) => one.seq - other.seq)
    this.breaches.push({ invariant: name, guarantee: promise, message: sentence, entries: told })
  }

  unknown(reason: string): void {
    this.reasons.add(reason)
  }
}

function chosenOf({ only, except }: InvariantOptions): readonly Invariant[] {
  const wanted = only === undefined ? undefined : namesOf(only)
  const left = namesOf(except ?? [])
  return invariants.filter(({ name }) => (wanted === undefined || wanted.includes(name)) && !left.includes(name))
}

function namesOf(given: string | readonly string[]): readonly string[] {
  const names = typeof given === 'string' ? [given] : given
  const known = invariants.map(({ name }) => name)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return names
  const near = nearestName(unknown, known)
  throw new TypeError(
    `There is no invariant ${JSON.stringify(unknown)}.${near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`} Use one of ${known.join(', ')}.`,
  )
}

/** Error for a violated invariant, caused by the engine or by a fault that the invariant does not expect. */
export class InvariantError extends Error {
  /** Name of the error class: `InvariantError`. */
  override readonly name = 'InvariantError'
  /** Violations that caused the error. */
  declare readonly violations: readonly InvariantViolation[]

  /**
   * @param render returns log entries as text
   * @internal
   */
  constructor(breaches: readonly InvariantViolation[], render: (entries: readonly Entry[]) => string, replay: string) {
    super(`${breaches.map((breach) => textOf(breach, render)).join('\n\n')}\n\n${replay}`)
    // Make the property non-enumerable. Test runners print enumerable properties, and the message already contains the
    // violations.
    Object.defineProperty(this, 'violations', { value: breaches })
    // Omit the stack, because it shows only where the check was called. The log entries in the message show where the
    // violation happened.
    this.stack = `${this.name}: ${this.message}`
  }
}

function textOf(
  { invariant, guarantee: promise, message: sentence, entries }: InvariantViolation,
  render: (entries: readonly Entry[]) => string,
): string {
  return `Violated invariant ${invariant}: ${promise}\nBut ${sentence}.${entries.length === 0 ? '' : `\n${render(entries)}`}`
}
