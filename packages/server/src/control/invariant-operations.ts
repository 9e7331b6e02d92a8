import * as v from 'valibot'
import type { InvariantViolation } from '../../../../src/invariants/invariant.js'
import {
  InvariantError,
  type InvariantOptions,
  type InvariantReport,
} from '../../../../src/invariants/invariant-check.js'
import { json } from '../../../../src/protocol/call.js'
import { failureOf } from '../../../../src/report/failure.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { type ControlOperation, order } from './operation.js'
import { writerOf } from './wire-entry.js'

const names = v.union([v.string(), v.array(v.string())])
const which = v.strictObject({ only: v.exactOptional(names), except: v.exactOptional(names) })
const example = { except: ['signatures-verify'] }

export const checkOrders: readonly ControlOperation[] = [
  order({
    method: 'POST',
    path: '/invariants/assert',
    summary:
      'Checks the invariants of the sandbox. A violation returns 409 with the invariant, its entries and the timeline.',
    body: which,
    example,
    run: (sandbox, options) => {
      try {
        return wireCheck(sandbox, sandbox.assertInvariants(options as InvariantOptions))
      } catch (error) {
        if (!(error instanceof InvariantError)) throw error
        const { replay } = failureOf(error) ?? {}
        return json({ error: error.message, violations: wireBreaches(sandbox, error.violations), replay }, 409)
      }
    },
  }),
  order({
    method: 'POST',
    path: '/invariants/check',
    summary: 'Checks the invariants like POST /invariants/assert, but returns violations with status 200.',
    body: which,
    example,
    tool: {
      name: 'check_invariants',
      does: 'Checks the invariants of the sandbox over all captured traffic.',
      when: 'Use it when something looks impossible: a message is lost, delivered twice or out of order, or a read returns an impossible value.',
      effect: 'reads',
      next: 'list_entries with the `seq` of a violation in `after`.',
      args: { only: 'names of invariants', except: 'names of invariants' },
    },
    run: (sandbox, options) => wireCheck(sandbox, sandbox.checkInvariants(options as InvariantOptions)),
  }),
]

function wireCheck(sandbox: Sandbox, { checked, violations: breaches, unknown }: InvariantReport): object {
  return { checked, violations: wireBreaches(sandbox, breaches), unknown }
}

function wireBreaches(sandbox: Sandbox, breaches: readonly InvariantViolation[]): object[] {
  const writer = writerOf(sandbox)
  return breaches.map((breach) => ({ ...breach, entries: breach.entries.map((entry) => writer.entry(entry)) }))
}
