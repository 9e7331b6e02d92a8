import * as v from 'valibot'
import type { PastInstant } from '../../../../src/sandbox/past.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { SandboxDump } from '../../../../src/sandbox/sandbox-dump.js'
import { sandboxInternals } from '../../../../src/sandbox/sandbox-internals.js'
import { storeInternals } from '../../../../src/store/store-internals.js'
import { pendingOf, timeOf } from './clock-operations.js'
import { refuseLarge, roomAtOnce, sizeOfEntries, sizeOfState } from './large.js'
import { type ControlOperation, order } from './operation.js'
import { snapshotOf } from './sandbox-snapshot.js'
import { nothing, pastInstant } from './schemas.js'

const state = v.custom<SandboxDump>(
  (given) => typeof given === 'object' && given !== null,
  'is not what GET /state returned',
)

export const sandboxOperations: readonly ControlOperation[] = [
  {
    method: 'GET',
    path: '',
    summary: 'Addresses, environment, tokens, time and pending timers of the tenant.',
    tool: {
      name: 'get_status',
      does: 'Time, addresses and what waits.',
      when: 'Begin here. Tokens are not told: `npx stuntdouble env` gives them to the app.',
      effect: 'reads',
      hides: ['env', 'tokens'],
      next: 'get_timeline for what happened so far, list_timers for what waits.',
    },
    run: (sandbox, _, { reached }) => ({
      ...timeOf(sandbox),
      urls: { ...eachOf(sandbox.urls, reached), regions: eachOf(sandbox.urls.regions, reached) },
      env: eachOf(sandbox.env, reached),
      tokens: sandbox.tokens,
      ...pendingOf(sandbox),
    }),
  },
  order({
    method: 'POST',
    path: '/reset',
    summary: 'Resets the world: same seed, same start, nothing stored, nothing pending.',
    body: nothing,
    tool: {
      name: 'reset_sandbox',
      does: 'Begins the world anew: everything stored, queued and captured is gone.',
      when: 'Between two attempts.',
      effect: 'destroys',
      next: 'publish_message or run_command to set it up again.',
    },
    run: async (sandbox) => {
      // First: where it fails nothing has changed.
      await storeInternals.of(sandbox.store).elsewhere?.reset()
      sandbox.reset()
      return timeOf(sandbox)
    },
  }),
  {
    method: 'GET',
    path: '/state',
    storedHere: true,
    summary: 'The whole world as JSON: data store, users, queue, signing keys, what the statistics counted, the time.',
    run: (sandbox) => {
      refuseLarge(sizeOfState(sandbox), roomAtOnce, 'The state of this tenant', keepState)
      return sandbox.dump()
    },
  },
  order({
    method: 'PUT',
    path: '/state',
    storedHere: true,
    summary: 'Replaces the whole world with what GET returned, here or elsewhere.',
    query: { rebaseTime: '`true`: moves all times of a state back if it is ahead of a real clock' },
    body: state,
    run: (sandbox, given, { query }) => {
      sandbox.load(given, { rebaseTime: query.get('rebaseTime') === 'true' })
      return timeOf(sandbox)
    },
  }),
  order({
    method: 'POST',
    path: '/resolve-instant',
    storedHere: true,
    summary: 'What an instant means now, as `at` of other calls: it means the same later, or is refused after a reset.',
    body: v.strictObject({ at: pastInstant }),
    example: { at: '2030-01-01T00:00:00Z' },
    run: (sandbox, { at }) => ({ at: sandboxInternals.of(sandbox).placeOf(at as PastInstant) }),
  }),
  order({
    method: 'POST',
    path: '/fork',
    storedHere: true,
    summary:
      'Makes a tenant that is what this one was at an instant, or is now, and goes on from there on a manual clock. Nothing leaves it unless `deliverTo` is true.',
    body: v.strictObject({
      at: v.optional(pastInstant),
      name: v.optional(v.string()),
      deliverTo: v.optional(v.boolean()),
    }),
    example: { at: '2030-01-01T00:00:00Z' },
    tool: {
      name: 'fork_sandbox',
      does: 'Makes a tenant that is what this one was at an instant, or is now, and goes on from there.',
      when: 'To try what would have happened: add a fault, change a key or move time in the fork, and leave this world as it is. Nothing leaves the fork unless `deliverTo` is true.',
      effect: 'changes',
      next: 'any tool with the answered name as "tenant"; get_timeline of both tells what is different.',
      args: {
        at: 'ISO text, milliseconds, a span back such as `-5m`, or `{"seq":12}` for right behind that entry; now without it',
        name: 'of the new tenant; a free one without it',
        deliverTo: 'whether its deliveries may leave it',
      },
    },
    run: async (sandbox, { at, name, deliverTo = false }, { adopt }) => {
      const { fetch, deliverTo: hosts } = sandbox.options
      const fork = await sandbox.fork({
        ...(at !== undefined && { at: at as PastInstant }),
        ...(deliverTo && { ...(fetch && { fetch }), ...(hosts && { deliverTo: hosts }) }),
      })
      return { tenant: adopt(fork, name), ...timeOf(fork) }
    },
  }),
  {
    method: 'GET',
    path: '/snapshot',
    summary: 'State, traffic and what is left to happen at one moment, nothing hidden: what matchers look into.',
    run(sandbox: Sandbox) {
      const { elsewhere } = storeInternals.of(sandbox.store)
      const { entries } = sandbox.traffic
      const size = sizeOfState(sandbox) + sizeOfEntries(entries)
      refuseLarge(
        size,
        roomAtOnce,
        'A snapshot of this tenant',
        `Forget the traffic with DELETE /traffic. ${keepState}`,
      )
      return elsewhere === undefined ? snapshotOf(sandbox) : elsewhere.copied(() => snapshotOf(sandbox))
    },
  },
]

const keepState =
  'Read keys with SCAN and POST /store/run, and the queue with GET /queue/messages?limit=100; or start the server with --state FILE, which writes it all.'

function eachOf(texts: object, as: (text: string) => string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, typeof text === 'string' ? as(text) : text]),
  )
}
