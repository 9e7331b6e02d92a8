import { describe, expect, test } from 'vitest'
import { during, type Swap, swap } from '../../../../../../test/mutants/swap.js'
import { effort } from '../../../../../../test/support/effort.js'
import { OwnedTenant } from '../../../../src/cluster/owned-tenant.js'
import { Registry } from '../../../../src/cluster/registry.js'
import { TenantLease } from '../../../../src/cluster/tenant-lease.js'
import { type Mistakes, simulate } from './simulation.js'

// The simulation must be able to fail: it detects each of these mistakes in the code.

const within = 400

interface Mistake {
  readonly what: string
  /** One of the violations that it finds. */
  readonly finds: RegExp
  /** Finding it needs luck, so not every run of the tests checks it. */
  readonly isRare?: true
  readonly script?: Mistakes['script']
  readonly code?: Swap
}

/** Replaces a part of a script. */
function edited(name: string, piece: string, other: string): Mistakes['script'] {
  return (of, source) => {
    if (of !== name) return source
    if (!source.includes(piece)) throw new Error(`${name} has no ${piece}`)
    return source.replace(piece, other)
  }
}

const mistakes: readonly Mistake[] = [
  {
    what: 'an append that does not check the fence',
    finds: /came after one under|not as long/,
    script: edited('append', "if held ~= ARGV[1] and (held or count ~= string.match(ARGV[1], '%d+$'))", 'if false'),
  },
  {
    what: 'an expired lease that stays valid after another owner',
    finds: /came after one under|strays|lost|had been told|not as long/,
    script: edited('append', "(held or count ~= string.match(ARGV[1], '%d+$'))", 'held'),
  },
  {
    what: 'an append that does not check the length of the journal',
    finds: /written twice|strays/,
    script: edited('append', 'there == from', 'true'),
  },
  {
    what: 'a lease that is taken from its owner without a new fence',
    finds: /was used by|cannot be opened|not as long/,
    script: edited(
      'acquire',
      "local count = redis.call('INCR', fence)",
      "local count = redis.call('GET', fence) or redis.call('INCR', fence)",
    ),
  },
  {
    what: 'a snapshot that keeps the records that it contains',
    finds: /./,
    script: edited('compact', "redis.call('LTRIM', journal, stands - before, -1)", ''),
  },
  {
    what: 'a snapshot that removes one record too many',
    finds: /has lost records|strays/,
    script: edited('compact', 'stands - before, -1', 'stands - before + 1, -1'),
  },
  {
    what: 'a response that is sent before its effects are saved',
    finds: /acknowledged and is lost|had been told|never was/,
    code: swap(OwnedTenant.prototype, 'commit', (_owned, commit, patience) => {
      const kept = commit(patience)
      kept.catch(() => {})
      return patience === Number.POSITIVE_INFINITY ? kept : Promise.resolve()
    }),
  },
  {
    what: 'a node that reads without checking that it is still the owner',
    finds: /a read was answered with/,
    code: swap(TenantLease.prototype, 'append', (_tenure, append, records) =>
      records.length === 0 ? Promise.resolve() : append(records),
    ),
  },
  {
    what: 'work outside that does not wait for the journal',
    finds: /before it is in the journal/,
    code: swap(OwnedTenant.prototype, 'commit', (_owned, commit, patience) =>
      patience === Number.POSITIVE_INFINITY ? Promise.resolve() : commit(patience),
    ),
  },
  {
    what: 'an append without a reply that is not retried',
    finds: /acknowledged and is lost|strays|had been told|not as long|never was/,
    code: swap(TenantLease.prototype, 'append', async (_tenure, append, records) => append(records).catch(() => {})),
  },
  {
    what: 'a cluster without a search for orphans',
    finds: /was never done|nobody noted/,
    script: edited('beat', 'return {page[1], orphans}', 'return {page[1], {}}'),
  },
  {
    what: 'a node that does not learn what it owns without knowing it',
    finds: /was never done|nobody noted/,
    isRare: true,
    script: edited('beat', 'owner == ARGV[1] or ', ''),
  },
  {
    what: 'a node that loses a tenant and does not update the registry',
    finds: /was never done|nobody noted/,
    code: swap(Registry.prototype, 'tell', () => {}),
  },
]

describe.each(mistakes.filter(({ isRare }) => effort === 'nightly' || !isRare))(
  '$what',
  ({ finds, script, code = () => () => {} }) => {
    test(`is found within ${within} seeds`, async () => {
      const found: string[] = []
      await during(code, async () => {
        for (let seed = 1; seed <= within && !found.some((what) => finds.test(what)); seed++) {
          const { breaches } = await simulate(seed, script && { script })
          found.push(...breaches)
          if (process.env.MISTAKES_VERBOSE && breaches.length > 0) console.log(seed, breaches.slice(0, 3))
        }
      })
      expect(found).toContainEqual(expect.stringMatching(finds))
    })
  },
)
