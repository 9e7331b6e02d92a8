import { upstashDialect } from '../../../src/protocol/dialect.js'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import type { ComparedSystem } from '../../../src/store/differences.js'
import type { Case, Need } from '../src/case.js'
import { type DriftReport, drift } from '../src/drift-run.js'
import { runPrefix } from '../src/drift-settings.js'
import type { DriftDestination } from '../src/endpoint.js'
import { RealConnection } from '../src/real-side.js'

export const dialect = upstashDialect

export interface Where {
  /** URLs of the services that replace the real ones. */
  readonly store?: string
  readonly queue?: string
  readonly endpoint?: DriftDestination
  readonly fetch?: typeof fetch
  readonly against?: ComparedSystem
}

/** Connects to a sandbox that replaces the real service. */
export function connectionTo(world: Sandbox, { store, queue, fetch = globalThis.fetch }: Where): RealConnection {
  const { tokens } = world
  return new RealConnection({
    store:
      store === undefined
        ? undefined
        : { address: store, token: tokens.store, readOnlyToken: tokens.storeReadonly, dialect },
    queue: queue === undefined ? undefined : { address: queue, token: tokens.queue, readOnlyToken: undefined, dialect },
    userAgent: 'stuntdouble-drift/0',
    fetch,
  })
}

/** Compares the double with a sandbox that replaces the real service. */
export function comparedWith(
  world: Sandbox,
  cases: readonly Case[],
  where: Where,
  connection: RealConnection = connectionTo(world, where),
): Promise<DriftReport> {
  const has = new Set<Need>()
  if (where.store !== undefined) has.add('store').add('read-only token')
  if (where.queue !== undefined) has.add('queue').add('endpoint').add('listener')
  return drift({
    cases,
    connection,
    dialect,
    prefix: runPrefix(),
    has,
    endpoint: where.endpoint,
    against: where.against,
  })
}
