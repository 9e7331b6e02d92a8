import { createSandbox, defineScenario, fault } from 'stuntdouble'
import {
  assertCrashSafe,
  assertIdempotent,
  assertVerifiesSignatures,
  exploreFaults,
  exploreInterleavings,
  parseRunHistory,
  replay,
} from 'stuntdouble/checks'
import { connect, type RemoteSandbox } from 'stuntdouble/client'
import { arb, assertResilient } from 'stuntdouble/fast-check'
import { replaceFetch } from 'stuntdouble/fetch'
import { messageTo, sandboxMatchers } from 'stuntdouble/matchers'
import { mswHandlers } from 'stuntdouble/msw'
import { fastNetwork } from 'stuntdouble/msw/fast'
import { createCollections } from 'stuntdouble/msw-data'
import { nockScopes } from 'stuntdouble/nock'
import { createRealRedisSandbox, createShadowSandbox } from 'stuntdouble/real-redis'
import { ioredisConnector, openRedisSocket } from 'stuntdouble/redis'
import { copyFormatsFor, toHtml } from 'stuntdouble/report'
import { playScenario } from 'stuntdouble/scenarios'
import { inspect, type StuntdoubleServer, startServer } from 'stuntdouble/server'
import { usage } from 'stuntdouble/stats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sandboxOf } from '../../fixtures/fixture-sandbox.js'
import { routeSandbox, sandboxEnv } from '../../fixtures/playwright.js'
import { type OptionLevel, optionLevels } from '../support/option-levels.js'

// JavaScript users have no compiler, so every public function rejects unknown names at every level of its options,
// with the nearest name. The levels come from the declarations, so a new function must be added here.

const sandbox = createSandbox({ onWarning: () => {} })
const { outbound, clock, destinations, faults, queue, stats, store, traffic, workflow } = sandbox
const url = 'https://a.test/x'
let server: StuntdoubleServer
let remote: RemoteSandbox
let runId: string
beforeAll(async () => {
  server = await startServer({
    port: 0,
    clock: 'manual',
    scenario: { name: 's', faults: [], steps: [{ drain: true }] },
  })
  remote = await connect(server.origin)
  const headers = { authorization: `Bearer ${remote.tokens.queue}` }
  const begun = await fetch(`${remote.urls.queue}/v2/trigger/${url}`, { method: 'POST', headers })
  runId = ((await begun.json()) as { workflowRunId: string }).workflowRunId
  await sandbox.fetch(`${sandbox.urls.queue}/v2/trigger/${url}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.queue}` },
  })
})
afterAll(async () => {
  sandbox.dispose()
  await server.close()
})

const handler = (): Response => new Response()
// biome-ignore lint/suspicious/noExplicitAny: what the compiler would refuse
type Given = any

/** Calls with each argument. */
const calls: Readonly<Record<string, (given: Given) => unknown>> = {
  'createSandbox[0]': (given) => createSandbox(given),
  'Outbound.respond[1]': (given) => outbound.respond(url, given),
  'Outbound.record[1]': (given) => outbound.record(url, given),
  'Outbound.script[1]': (given) => outbound.script(url, given),
  'Clock.advance[1]': (given) => clock.advance('1s', given),
  'Clock.advanceTo[1]': (given) => clock.advanceTo(clock.now(), given),
  'Clock.drain[0]': (given) => clock.drain(given),
  'Destinations.respond[1]': (given) => destinations.respond(url, given),
  'Destinations.record[1]': (given) => destinations.record(url, given),
  'Destinations.script[1]': (given) => destinations.script(url, given),
  'Queue.publish[0]': (given) => queue.publish(given),
  'Queue.cancelMessages[0]': (given) => queue.cancelMessages(given),
  'Queue.explain[0]': (given) => queue.explain(given),
  'QueueSchedules.upcoming[1]': (given) => queue.schedules.upcoming('id', given),
  'Queue.upsertQueue[1]': (given) => queue.upsertQueue('orders', given),
  'Workflow.cancelRuns[0]': (given) => workflow.cancelRuns(given),
  'Workflow.notify[2]': (given) => workflow.notify('e', 1, given),
  'QueueUrlGroups.addEndpoints[1]': (given) => queue.urlGroups.addEndpoints('g', given),
  'Queue.sign[0]': (given) => queue.sign(given),
  'Queue.sign[1]': (given) => queue.sign({ url }, given),
  'Traffic.filter[0]': (given) => traffic.filter(given),
  'Traffic.last[0]': (given) => traffic.last(given),
  'Traffic.timeline[0]': (given) => traffic.timeline(given),
  'Traffic.diagram[0]': (given) => traffic.diagram(given),
  'Traffic.toHar[0]': (given) => traffic.toHar(given),
  'Traffic.toTrace[0]': (given) => traffic.toTrace(given),
  'Faults.add[0]': (given) => faults.add(given),
  'Faults.add[1]': (given) => faults.add([], given),
  'PastSandbox.fork[0]': (given) => sandbox.asOf(clock.now()).fork(given),
  'WorkflowRun.history[0]': (given) => workflow.runs[0]!.history(given),
  'StepStubBuilder.throws[0]': (given) => workflow.stubStep('s').throws(given),
  'StepStubBuilder.throws[1]': (given) => workflow.stubStep('s').throws('broken', given),
  'StepStubBuilder.timesOut[0]': (given) => workflow.stubStep('s').timesOut(given),
  'QueueStatistics.override[0]': (given) => stats.queue.override(given),
  'QueueStatistics.script[0]': (given) => stats.queue.script(given),
  'QueueStatistics.script[1]': (given) => stats.queue.script([], given),
  'SearchStatistics.override[0]': (given) => stats.search('i').override(given),
  'SearchStatistics.script[0]': (given) => stats.search('i').script(given),
  'SearchStatistics.script[1]': (given) => stats.search('i').script([], given),
  'StoreStatistics.override[0]': (given) => stats.store.override(given),
  'StoreStatistics.script[0]': (given) => stats.store.script(given),
  'StoreStatistics.script[1]': (given) => stats.store.script([], given),
  'Store.connect[0]': (given) => store.connect(given),
  'Sandbox.envFor[0]': (given) => sandbox.envFor(given),
  'Sandbox.assertInvariants[0]': (given) => sandbox.assertInvariants(given),
  'Sandbox.checkInvariants[0]': (given) => sandbox.checkInvariants(given),
  'Sandbox.load[1]': (given) => sandbox.load(sandbox.dump(), given),
  'Sandbox.asOf[0]': (given) => sandbox.asOf(given),
  'Sandbox.fork[0]': (given) => sandbox.fork(given),
  'defineScenario[0]': (given) => defineScenario(given),
  'defineScenario[1]': (given) => defineScenario('s', given),
  'usage.latencies[0]': (given) => usage.latencies(given),
  'usage.latencies[1]': (given) => usage.latencies({}, given),
  'usage.monthEnd[1]': (given) => usage.monthEnd(2, given),
  'usage.spikeAt[2]': (given) => usage.spikeAt('1h', 2, given),
  'usage.steady[0]': (given) => usage.steady(given),
  'usage.steady[1]': (given) => usage.steady({}, given),
  'fault.latency[0]': (given) => fault.latency(given),
  'fault.status[1]': (given) => fault.status(503, given),
  'fault.rateLimited[0]': (given) => fault.rateLimited(given),
  'fault.duplicate[0]': (given) => fault.duplicate(given),
  'fault.delay[1]': (given) => faults.add({ on: 'queue.delivery', fault: fault.delay('1s', given) }),
  'fault.outage[0]': (given) => fault.outage(given),
  'fault.staleRead[1]': (given) => fault.staleRead(1, given),
  'fastNetwork[1]': (given) => fastNetwork(sandbox, given),
  'inspect[1]': (given) => inspect(sandbox, given),
  'startServer[0]': async (given) => (await startServer({ port: 0, ...given })).close(),
  'StuntdoubleServer.setScenario[0]': (given) => server.setScenario(given),
  'StuntdoubleServer.close[0]': async (given) => (await startServer({ port: 0 })).close(given),
  'connect[1]': (given) => connect(server.origin, given),
  'RemoteClock.advance[1]': (given) => remote.clock.advance('1s', given),
  'RemoteClock.advanceTo[1]': (given) => remote.clock.advanceTo('2040-01-01T00:00:00Z', given),
  'RemoteClock.drain[0]': (given) => remote.clock.drain(given),
  'RemoteQueue.publish[0]': (given) => remote.queue.publish(given),
  'RemoteQueue.cancelMessages[0]': (given) => remote.queue.cancelMessages(given),
  'RemoteQueue.explain[0]': (given) => remote.queue.explain(given),
  'RemoteSchedules.upcoming[1]': (given) => remote.queue.schedules.upcoming('id', given),
  'RemoteQueue.upsertQueue[1]': (given) => remote.queue.upsertQueue('orders', given),
  'RemoteWorkflows.cancelRuns[0]': (given) => remote.workflow.cancelRuns(given),
  'RemoteWorkflows.notify[2]': (given) => remote.workflow.notify('e', 1, given),
  'RemoteUrlGroups.addEndpoints[1]': (given) => remote.queue.urlGroups.addEndpoints('g', given),
  'RemoteQueue.sign[0]': (given) => remote.queue.sign(given),
  'RemoteQueue.sign[1]': (given) => remote.queue.sign({ url }, given),
  'RemoteWorkflowRun.history[0]': (given) => remote.workflow.getRun(runId).history(given),
  'RemoteStepStub.throws[0]': (given) => remote.workflow.stubStep('s').throws(given),
  'RemoteStepStub.throws[1]': (given) => remote.workflow.stubStep('s').throws('broken', given),
  'RemoteStepStub.timesOut[0]': (given) => remote.workflow.stubStep('s').timesOut(given),
  'RemoteDestinations.script[1]': (given) => remote.destinations.script(url, given),
  'RemoteDestinations.respond[1]': (given) => remote.destinations.respond(url, given),
  'RemoteDestinations.record[1]': (given) => remote.destinations.record(url, given),
  'RemoteOutbound.script[1]': (given) => remote.outbound.script(url, given),
  'RemoteOutbound.respond[1]': (given) => remote.outbound.respond(url, given),
  'RemoteOutbound.record[1]': (given) => remote.outbound.record(url, given),
  'RemoteReport.override[0]': (given) => remote.stats.queue.override(given),
  'RemoteReport.script[0]': (given) => remote.stats.queue.script(given),
  'RemoteReport.script[1]': (given) => remote.stats.queue.script([], given),
  'RemoteFaults.add[0]': (given) => remote.faults.add(given),
  'RemoteFaults.add[1]': (given) => remote.faults.add([], given),
  'RemoteTraffic.timeline[0]': (given) => remote.traffic.timeline(given),
  'RemoteTraffic.diagram[0]': (given) => remote.traffic.diagram(given),
  'RemoteTraffic.toHar[0]': (given) => remote.traffic.toHar(given),
  'RemoteTraffic.toTrace[0]': (given) => remote.traffic.toTrace(given),
  'RemoteTraffic.follow[0]': (given) => remote.traffic.follow(given)[Symbol.asyncIterator]().next(),
  'RemoteSandbox.envFor[0]': (given) => remote.envFor(given),
  'RemoteSandbox.assertInvariants[0]': (given) => remote.assertInvariants(given),
  'RemoteSandbox.checkInvariants[0]': (given) => remote.checkInvariants(given),
  'RemoteSandbox.load[1]': async (given) => remote.load(await remote.dump(), given),
  'RemoteSandbox.asOf[0]': async (given) => remote.asOf(given),
  'RemotePastSandbox.fork[0]': async (given) => (await remote.asOf(await remote.clock.now())).fork(given),
  'RemoteSandbox.fork[0]': (given) => remote.fork(given),
  'ioredisConnector[1]': (given) => ioredisConnector(sandbox, given),
  'openRedisSocket[1]': (given) => openRedisSocket(sandbox, given),
  'createRealRedisSandbox[1]': (given) => createRealRedisSandbox('redis://localhost:1', given),
  'createShadowSandbox[1]': (given) => createShadowSandbox('redis://localhost:1', given),
  'CopyFormat.render[0]': (given) => copyFormatsFor(given),
  'copyFormatsFor[0]': (given) => copyFormatsFor(given),
  'toHtml[1]': (given) => toHtml(sandbox.traffic, given),
  'messageTo[1]': (given) => messageTo(url, given),
  'assertResilient[0]': (given) => assertResilient(given),
  'arb.outboundFaults[0]': (given) => arb.outboundFaults(given),
  'arb.deliveryFaults[0]': (given) => arb.deliveryFaults(given),
  'arb.deliveryScript[0]': (given) => arb.deliveryScript(given),
  'arb.faultRules[0]': (given) => arb.faultRules(given),
  'assertIdempotent[1]': (given) => assertIdempotent(handler, given),
  'arb.command[0]': (given) => arb.command(given),
  'arb.clockMove[0]': (given) => arb.clockMove(given),
  'arb.message[0]': (given) => arb.message(given),
  'arb.schedule[0]': (given) => arb.schedule(given),
  'arb.storeRequests[0]': (given) => arb.storeRequests(given),
  'assertVerifiesSignatures[1]': (given) => assertVerifiesSignatures(handler, given),
  'playScenario[0]': (given) => playScenario(given),
  'playScenario[1]': (given) => playScenario({ name: 's' }, given),
  'parseRunHistory[1]': (given) => parseRunHistory('[]', given),
  'assertCrashSafe[1]': (given) => assertCrashSafe(() => {}, given),
  'exploreFaults[0]': (given) => exploreFaults(given),
  'exploreFaults[1]': (given) => exploreFaults({ name: 's' }, given),
  'exploreInterleavings[0]': (given) => exploreInterleavings(given),
  'exploreInterleavings[1]': (given) => exploreInterleavings({ name: 's' }, given),
  'replay[2]': (given) => replay({ format: 'none' } as Given, () => {}, given),
  'useSandbox[0]': (given) => sandboxOf(given),
  'sandboxEnv[0]': (given) => sandboxEnv(given),
  'replaceFetch[1]': (given) => replaceFetch(sandbox, given),
  'mswHandlers[1]': (given) => mswHandlers(sandbox, given),
  'nockScopes[1]': (given) => nockScopes(sandbox, given),
  'routeSandbox[2]': (given) => routeSandbox({} as Given, sandbox, given),
  'createCollections[0]': (given) => createCollections(given),
  'SandboxCollections.build[0]': async (given) => (await createCollections()).build(given),
}

const matcherArgument = /^SandboxMatchers\.(\w+)\[(\d)\]$/
/** Arguments before the tested one. */
const before: Readonly<Record<string, readonly unknown[]>> = {
  toHaveExecuted: ['GET'],
  toHaveKey: ['k'],
  toHaveCost: [{ commands: 1 }],
  toHaveWorkflowStep: ['s', {}],
  toHaveWorkflowWait: ['e', {}],
}

function callOf(level: OptionLevel): ((given: unknown) => unknown) | undefined {
  const [, matcher, index] = matcherArgument.exec(level.call) ?? []
  if (matcher === undefined) return calls[level.call]
  const at = matcher === 'toHaveExecuted' ? 1 : Number(index)
  const first = [...(before[matcher] ?? [{}]), {}].slice(0, at)
  return (given) => sandboxMatchers[matcher as keyof typeof sandboxMatchers].call({}, sandbox, ...first, given)
}

/** Arguments that users do not write by hand, and why. */
const notWritten: readonly (readonly [call: RegExp, because: string])[] = [
  [
    /\.(?:load|diff)\[0\]$|^SandboxSnapshot\.of|^SandboxCollections\.add/,
    'what dump() and snapshot() wrote: read as files are',
  ],
  [
    /^(?:TrafficLog\.|Traffic\.decode|decode|formatTraceDiff|toHtml\[0\]|loadTrace|(?:Vitest|Jest)TraceReporter)/,
    'entries and traces',
  ],
  [
    /^(?:replay\[0\]|sendStoreRequests\[1\]|KnownDifference\.|Verdict\.|CopyFormat\.render\[1\])/,
    'what another function returned',
  ],
  [
    /^(?:replaceFetch|mswHandlers|nockScopes|fastNetwork)\[0\]|^routeSandbox\[1\]|^fakeTimers/,
    'a sandbox, or the timers of a runner',
  ],
  [
    /^(?:Outbound\.exchange|Clock\.schedule|Faults\.injections|RunMessage|RuleIndex|ActiveRule|FaultSpec|Redaction|Ledger|StreamOutlet)/,
    'for the package itself',
  ],
  [/\.play\[0\]$/, 'scenarios, which defineScenario() checks'],
  [/^rateLimitHeaders/, 'numbers of a limit'],
]

const levels = optionLevels()
  .filter(({ call }) => !notWritten.some(([pattern]) => pattern.test(call)))
  // Any object can be an argument of the command, as JSON.
  .filter(({ call, path }) => call !== 'SandboxMatchers.toHaveExecuted[0]' || path !== '')

test('every argument that is an object of options has a call', () => {
  const known = levels.filter((level) => callOf(level) === undefined).map(({ call }) => call)
  expect([...new Set(known)]).toEqual([])
  const found = new Set(levels.map(({ call }) => call))
  expect(Object.keys(calls).filter((call) => !found.has(call))).toEqual([])
})

test.each([...new Set(levels.map(({ call }) => call))])(
  '%s rejects an unknown name at every level with the nearest name',
  async (call) => {
    const taken: string[] = []
    for (const level of levels.filter((one) => one.call === call)) {
      // The discriminating field of a union has no suggestion.
      const others = level.names.filter((name) => !['kind', 'type'].includes(name))
      const [near = 'kind'] = others.toSorted((a, b) => b.length - a.length)
      const wrong = `${near}x`
      const where = `${level.path || 'itself'} { ${level.names.slice(0, 3).join(', ')} … }`
      const message = await refusal(() => callOf(level)?.(level.with(wrong)))
      // Types allow `then` in every `delay`. Outside of scripts, the unknown name is `then` itself.
      if (message !== undefined && /there is no (?:field )?"then"/.test(message)) continue
      const rest = message?.replaceAll(wrong, '') ?? ''
      if (message === undefined) taken.push(`${where}: ${wrong} is taken`)
      else if (!message.includes(wrong) || (near !== 'kind' && !new RegExp(`\\b${near}\\b`).test(rest)))
        taken.push(`${where}: ${message}`)
    }
    expect(taken).toEqual([])
  },
)

async function refusal(run: () => unknown): Promise<string | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
