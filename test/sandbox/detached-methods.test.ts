import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { connect } from 'stuntdouble/client'
import { startServer } from 'stuntdouble/server'
import { expect, test } from 'vitest'

/** Every object with methods that a sandbox returns, by its path. */
function facesOf(sandbox: Sandbox): Record<string, object> {
  const { store, queue, workflow, stats, faults, destinations, outbound, traffic, clock } = sandbox
  const past = sandbox.asOf('-0s')
  return {
    sandbox,
    ...{ store, queue, workflow, stats, faults, destinations, outbound, traffic, clock },
    'store.connect()': store.connect(),
    'queue.schedules': queue.schedules,
    'queue.urlGroups': queue.urlGroups,
    'queue.signingKeys': queue.signingKeys,
    'workflow.stubStep()': workflow.stubStep('charge'),
    'workflow.stubEvent()': workflow.stubEvent('paid'),
    'stats.queue': stats.queue,
    'stats.store': stats.store,
    'stats.search()': stats.search('index'),
    'stats.vector()': stats.vector('index'),
    'faults.add()': faults.add({ on: 'queue.delivery', fault: fault.lostAck() }),
    'destinations.record()': destinations.record('https://shop.test/*'),
    'outbound.record()': outbound.record('https://bank.test/*'),
    'sandbox.asOf()': past,
    'sandbox.asOf().store': past.store,
    'sandbox.asOf().traffic': past.traffic,
    'traffic.since()': traffic.since(traffic.mark()),
  }
}

function methodsOf(face: object): string[] {
  const names = new Set<string>()
  for (
    let at = face;
    at !== null && at !== Object.prototype && at !== Array.prototype;
    at = Object.getPrototypeOf(at)
  ) {
    for (const name of Object.getOwnPropertyNames(at)) if (name !== 'constructor') names.add(name)
  }
  return [...names].filter((name) => typeof (face as Record<string, unknown>)[name] === 'function')
}

/** Returns the result of a call without arguments. */
async function outcomeOf(call: () => unknown): Promise<string> {
  try {
    const given = call()
    if (!(given instanceof Promise)) return 'returned'
    void given.catch(() => {})
    // Some calls wait forever, for example for an event.
    const ended = given.then(
      () => 'resolved',
      (error: Error) => error.message,
    )
    return await Promise.race([ended, new Promise<string>((resolve) => setTimeout(resolve, 5, 'waits'))])
  } catch (error) {
    return (error as Error).message
  }
}

async function expectDetachable(make: () => Record<string, object>): Promise<void> {
  const ways = Object.entries(make()).flatMap(([way, face]) => methodsOf(face).map((name) => [way, name] as const))
  expect(ways.length).toBeGreaterThan(10)
  for (const [way, name] of ways) {
    const face = make()[way] as Record<string, () => unknown>
    const detached = make()[way]![name as never] as () => unknown
    expect(`${way}.${name}: ${await outcomeOf(detached)}`).toBe(
      `${way}.${name}: ${await outcomeOf(() => face[name]!())}`,
    )
  }
}

test('every method of a sandbox can be detached from its object', async () => {
  await expectDetachable(() => facesOf(createSandbox({ onWarning: () => {} })))
})

test('every method of a remote sandbox can be detached from its object', async () => {
  await using server = await startServer({ port: 0 })
  await using sandbox = await connect(server.origin)
  const { store, queue, workflow, stats, faults, destinations, outbound, traffic, clock } = sandbox
  const past = sandbox.asOf('-0s')
  const faces: Record<string, object> = {
    ...{ store, queue, workflow, stats, faults, destinations, outbound, traffic, clock, past },
    'past.store': past.store,
  }
  for (const [way, face] of Object.entries(faces)) {
    for (const name of methodsOf(face)) {
      const detached = (face as Record<string, () => unknown>)[name]!
      expect(`${way}.${name}: ${await outcomeOf(detached)}`).not.toMatch(/ properties of undefined|private/)
    }
  }
})

test('a detached method works, is the same on each access, and can be replaced by a test', async () => {
  using sandbox = createSandbox()
  const { run, get } = sandbox.store
  const { advance, now } = sandbox.clock
  run('SET', 'greeting', 'hello')
  expect(get('greeting')).toBe('hello')
  const before = now()
  await advance('1s')
  expect(now()).toBe(before + 1000)
  expect(sandbox.store.run).toBe(run)
  using fork = await sandbox.fork()
  expect(fork.dump()).toEqual(sandbox.dump())
  expect(Object.keys(sandbox.store)).toEqual(Object.keys(createSandbox().store))
  sandbox.store.get = () => 'other'
  expect(sandbox.store.get('greeting')).toBe('other')
})
