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
  'must be a response of GET /state',
)

export const sandboxOperations: readonly ControlOperation[] = [
  {
    method: 'GET',
    path: '',
    summary:
      'Returns the URLs, environment, tokens, time and pending timers of the tenant. `databaseEnv` has the environment for each added database.',
    tool: {
      name: 'get_status',
      does: 'Returns the time, URLs and pending timers.',
      when: 'Call this first. The response contains no tokens; `npx stuntdouble env` sets the tokens for the app.',
      effect: 'reads',
      hides: ['env', 'databaseEnv', 'tokens'],
      next: 'get_timeline for what has happened, list_timers for pending timers.',
    },
    run: (sandbox, _, { reached }) => ({
      ...timeOf(sandbox),
      urls: {
        ...eachOf(sandbox.urls, reached),
        regions: eachOf(sandbox.urls.regions, reached),
        databases: eachOf(sandbox.urls.databases, reached),
      },
      env: eachOf(sandbox.env, reached),
      databaseEnv: Object.fromEntries(
        Object.keys(sandbox.urls.databases).map((database) => [
          database,
          eachOf(sandbox.envFor({ database }), reached),
        ]),
      ),
      tokens: sandbox.tokens,
      ...pendingOf(sandbox),
    }),
  },
  order({
    method: 'POST',
    path: '/reset',
    summary: 'Resets the sandbox to its seed and start time, with an empty store and queue.',
    body: nothing,
    tool: {
      name: 'reset_sandbox',
      does: 'Resets the sandbox: everything stored, queued and captured is deleted.',
      when: 'Use it before you try something again from the start.',
      effect: 'destroys',
      next: 'publish_message or run_command to set up the sandbox again.',
    },
    run: async (sandbox) => {
      // Reset the real Redis first. If that fails, nothing else has changed.
      await storeInternals.of(sandbox.store).elsewhere?.reset()
      sandbox.reset()
      return timeOf(sandbox)
    },
  }),
  {
    method: 'GET',
    path: '/state',
    storedHere: true,
    summary: 'Returns the whole sandbox as JSON: store, users, queue, signing keys, counted statistics and time.',
    run: (sandbox) => {
      refuseLarge(sizeOfState(sandbox), roomAtOnce, 'The state of this tenant', keepState)
      return sandbox.dump()
    },
  },
  order({
    method: 'PUT',
    path: '/state',
    storedHere: true,
    summary: 'Replaces the whole sandbox with a response of GET /state from this or another server.',
    query: {
      rebaseTime: '`true`: if the state is ahead of a real clock, shifts all its times so that its current time is now',
    },
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
    summary:
      'Returns an exact position for `at` in other calls, because several events can happen in the same millisecond. After a reset, the position is rejected.',
    body: v.strictObject({ at: pastInstant }),
    example: { at: '2030-01-01T00:00:00Z' },
    run: (sandbox, { at }) => ({ at: sandboxInternals.of(sandbox).placeOf(at as PastInstant) }),
  }),
  order({
    method: 'POST',
    path: '/fork',
    storedHere: true,
    summary:
      'Creates a tenant that continues from this one, now or as of an instant, on a manual clock. The new tenant sends no deliveries over the network unless `deliverTo` is true.',
    body: v.strictObject({
      at: v.optional(pastInstant),
      name: v.optional(v.string()),
      deliverTo: v.optional(v.boolean()),
    }),
    example: { at: '2030-01-01T00:00:00Z' },
    tool: {
      name: 'fork_sandbox',
      does: 'Creates a tenant that continues from this one, now or as of an instant.',
      when: 'Use it to try out what would have happened: add a fault, change a key or move time in the fork, without changing this sandbox. The fork sends no deliveries over the network unless `deliverTo` is true.',
      effect: 'changes',
      next: 'any tool with "tenant" set to the returned name. Compare get_timeline of this tenant and of the fork.',
      args: {
        at: 'ISO text, milliseconds, a duration before now such as `-5m`, or `{"seq":12}` for directly after that entry; default now',
        name: 'name of the new tenant; default: a free one',
        deliverTo: 'whether deliveries of the new tenant may use the network',
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
    summary: 'Returns the state, traffic and pending work of one instant, for matchers. Secrets are not redacted.',
    run(sandbox: Sandbox) {
      const { elsewhere } = storeInternals.of(sandbox.store)
      const { entries } = sandbox.traffic
      const size = sizeOfState(sandbox) + sizeOfEntries(entries)
      refuseLarge(size, roomAtOnce, 'A snapshot of this tenant', `Clear the traffic with DELETE /traffic. ${keepState}`)
      return elsewhere === undefined ? snapshotOf(sandbox) : elsewhere.copied(() => snapshotOf(sandbox))
    },
  },
]

const keepState =
  'Read keys with SCAN and POST /store/run, and the queue with GET /queue/messages?limit=100, or start the server with --state FILE to save everything.'

function eachOf(texts: object, as: (text: string) => string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, typeof text === 'string' ? as(text) : text]),
  )
}
