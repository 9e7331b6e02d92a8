import { checkOptionNames, nearestName } from '../kernel/nearest-name.js'
import type { Entry } from '../kernel/traffic-log.js'
import type { Findings, Invariant, InvariantViolation } from './invariant.js'
import type { CheckedSandbox } from './invariant-index.js'
import { InvariantIndex } from './invariant-index.js'
import { invariants } from './invariant-table.js'

/** Which promises a check is about; all of them by default. */
export interface InvariantOptions {
  /** Names of the only ones. */
  readonly only?: string | readonly string[]
  /** Names of those to leave out. */
  readonly except?: string | readonly string[]
}

/** What a check found. */
export interface InvariantReport {
  /** Names of the promises that were examined. */
  readonly checked: readonly string[]
  readonly violations: readonly InvariantViolation[]
  /** What the remaining entries cannot prove, because the log has dropped others. */
  readonly unknown: readonly { readonly invariant: string; readonly reason: string }[]
}

/** Breaches that are listed for one promise; one cause often breaks it many times. */
const listedAtMost = 10

/** Checks the promises of a world. @throws TypeError for an unknown name */
export function assertInvariantsOf(world: CheckedSandbox, options: InvariantOptions = {}): InvariantReport {
  checkInvariantOptions('sandbox.checkInvariants()', options)
  return checkInvariantsOf(world, chosenOf(options))
}

/** @throws TypeError for an option that there is not, and for an invariant that there is not, with the nearest names */
export function checkInvariantOptions(called: string, options: InvariantOptions): void {
  checkOptionNames(called, options, ['only', 'except'])
  chosenOf(options)
}

/** Checks these promises of a world. */
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
    `There is no invariant ${JSON.stringify(unknown)}${near === undefined ? '.' : `, did you mean ${JSON.stringify(near)}?`} The invariants are ${known.join(', ')}.`,
  )
}

/** The engine, or a fault nobody declared, broke a promise. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
  declare readonly violations: readonly InvariantViolation[]

  /** @param tell entries as a text @internal */
  constructor(breaches: readonly InvariantViolation[], tell: (entries: readonly Entry[]) => string, replay: string) {
    super(`${breaches.map((breach) => textOf(breach, tell)).join('\n\n')}\n\n${replay}`)
    // Not enumerable: runners print the fields of an error, and the message has them already.
    Object.defineProperty(this, 'violations', { value: breaches })
    // The stack is of no use: the story has the place.
    this.stack = `${this.name}: ${this.message}`
  }
}

function textOf(
  { invariant, guarantee: promise, message: sentence, entries }: InvariantViolation,
  tell: (entries: readonly Entry[]) => string,
): string {
  return `Broken promise ${invariant}: ${promise}\nBut ${sentence}.${entries.length === 0 ? '' : `\n${tell(entries)}`}`
}
