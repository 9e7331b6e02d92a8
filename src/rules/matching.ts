import type { FaultFacts, FaultMatch } from '../faults/fault.js'
import { AddressPattern, wildcard } from '../kernel/address-pattern.js'
import { type Bytes, utf8 } from '../kernel/bytes.js'
import { globMatcher } from '../kernel/glob.js'
import { headerOf } from '../kernel/http.js'

/** Returns whether an event matches one condition of a rule. */
export type Predicate = (facts: FaultFacts) => boolean

/** Returns one fact. If the fact is not set, calls `more()`, which computes costly facts. */
export function factOf<F extends Exclude<keyof FaultFacts, 'more'>>(facts: FaultFacts, name: F): FaultFacts[F] {
  return facts[name] ?? facts.more?.()[name]
}

/**
 * Returns one predicate for each field of `match`. An event that does not have a fact does not match the field for this
 * fact.
 */
export function predicatesOf(
  match: FaultMatch & { readonly reads?: true },
  tenant: string | undefined,
): readonly Predicate[] {
  const tests: Predicate[] = []
  for (const [field, wanted] of Object.entries(match)) {
    if (wanted !== undefined) tests.push(predicate(field as keyof FaultMatch, wanted as never, tenant))
  }
  return tests
}

function predicate(field: keyof FaultMatch, wanted: never, tenant: string | undefined): Predicate {
  switch (field) {
    case 'url':
      return urlTest(wanted)
    case 'workflow': {
      const pattern = new AddressPattern(wanted)
      return (facts) => {
        const workflow = factOf(facts, 'workflow')
        return workflow !== undefined && pattern.matches(workflow)
      }
    }
    case 'path': {
      const fits = wildcard(wanted)
      return ({ path }) => path !== undefined && fits(path)
    }
    case 'method': {
      const name = String(wanted).toUpperCase()
      return ({ method }) => method === name
    }
    case 'command': {
      const name = String(wanted).toUpperCase()
      return (facts) => factOf(facts, 'commands')?.includes(name) === true
    }
    case 'key': {
      const fits = globMatcher(utf8(wanted))
      return (facts) => factOf(facts, 'keys')?.some((key: Bytes) => fits(key)) === true
    }
    case 'label':
      return (facts) => factOf(facts, 'labels')?.includes(wanted) === true
    case 'headers':
      return headerTest(wanted)
    case 'attempt':
      return attemptTest(wanted)
    case 'tenant':
      return () => tenant === wanted
    default:
      return (facts) => factOf(facts, field) === wanted
  }
}

function urlTest(wanted: string): Predicate {
  const pattern = new AddressPattern(wanted)
  return (facts) => {
    if (facts.url !== undefined && pattern.matches(facts.url)) return true
    const destination = factOf(facts, 'destination')
    return destination !== undefined && pattern.matches(destination)
  }
}

function headerTest(wanted: Readonly<Record<string, string>>): Predicate {
  const tests = Object.entries(wanted).map(([name, value]) => [name.toLowerCase(), wildcard(value)] as const)
  return ({ headers = [] }) =>
    tests.every(([name, fits]) => {
      const given = headerOf(headers, name)
      return given !== undefined && fits(given)
    })
}

function attemptTest(wanted: number | { readonly from?: number; readonly to?: number }): Predicate {
  if (typeof wanted === 'number') return ({ attempt }) => attempt === wanted
  const { from = 1, to = Number.POSITIVE_INFINITY } = wanted
  return ({ attempt }) => attempt !== undefined && attempt >= from && attempt <= to
}
