import { normalized } from './compare-sides.js'
import type { DriftReport } from './drift-run.js'

// The result of a run as a file for sharing. It contains requests and responses, but no information about the service's
// account.

export interface RecordAbout {
  readonly version: string
  readonly dialect: string
  /** Function that removes secrets from a text. */
  readonly hide: (text: string) => string
}

export function recordText(outcome: DriftReport, { version, dialect, hide }: RecordAbout): string {
  const { compared, same, following, findings, leftOut, broken, ended } = outcome
  const facts = {
    format: 'stuntdouble/drift',
    version: 1,
    double: version,
    dialect,
    compared,
    same,
    following,
    findings: findings.map(({ what, double, real, named, seen }) => ({
      what,
      double: normalized(double, hide),
      real: normalized(real, hide),
      ...(named !== undefined && { known: named.name, where: named.where }),
      seen,
    })),
    leftOut,
    broken,
    ...(ended !== undefined && { ended }),
  }
  return `${JSON.stringify(withoutSecrets(facts, hide), undefined, 2)}\n`
}

function withoutSecrets(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value)
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, hide))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [hide(name), withoutSecrets(field, hide)]))
}
