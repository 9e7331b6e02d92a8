import { expect, test } from 'vitest'
import { createSandbox, fault, type Sandbox } from '../../src/index.js'
import { copyFormats } from '../../src/report/copy/copy-forms.js'
import { diffTraces, loadTrace, toHtml } from '../../src/report/index.js'
import { mermaidDiagram } from '../../src/report/mermaid.js'
import { textDiagram } from '../../src/report/text-diagram.js'
import { scenarioProblems } from '../../src/scenarios/scenario.js'

// Reports of a sandbox with several databases name the database of each entry.

async function send(sandbox: Sandbox, database: string | undefined, ...argv: string[]): Promise<number> {
  const { urls, tokens } = sandbox
  const url = database === undefined ? urls.store : urls.databases[database]!
  const own = database === undefined ? tokens : tokens.databases[database]!
  const headers = { authorization: `Bearer ${own.store}` }
  return (await sandbox.fetch(url, { method: 'POST', headers, body: JSON.stringify(argv) })).status
}

/** The same key is written in the first database, by the test in `us`, and by the app in `us`. */
async function story(): Promise<Sandbox> {
  const sandbox = createSandbox({ databases: ['eu', 'us'] })
  await send(sandbox, undefined, 'SET', 'a', 'first')
  sandbox.storeIn('us').run('SET', 'a', 'by-test')
  await send(sandbox, 'us', 'SET', 'a', 'by-app')
  sandbox.faults.add({ on: 'store.request', match: { database: 'us' }, times: 1, fault: fault.status(503) })
  await send(sandbox, 'us', 'GET', 'a')
  return sandbox
}

test('diagrams have a column for each database', async () => {
  const { entries } = (await story()).traffic
  const mermaid = mermaidDiagram(entries)
  expect(mermaid).toMatch(/participant p0 as app\n {2}participant p1 as store\n {2}participant p2 as store us\n/)
  expect(mermaid).toContain('p0->>p1: SET a first')
  expect(mermaid).toContain('p0->>p2: SET a by-app')
  expect(mermaid).toMatch(/Note right of p2: by the test: SET a by-test/)
  expect(mermaid).toMatch(/Note right of p2: fault status/)
  expect(
    textDiagram(entries)
      .split('\n')[0]!
      .trim()
      .split(/\s{2,}/),
  ).toEqual(['app', 'store', 'store us'])
})

test('the timeline, HAR files and prompts name the database of an entry', async () => {
  const { traffic } = await story()
  const lines = traffic
    .timeline()
    .split('\n')
    .filter((line) => /\bSET a\b/.test(line))
  expect(lines.map((line) => / \(us\)$/.test(line))).toEqual([false, true, true])
  const { entries } = traffic.toHar().log
  expect(entries.map(({ _database }) => _database)).toEqual([undefined, 'us', 'us'])
  const trace = traffic.toTrace()
  const prompt = copy('prompt', trace)
  expect(prompt).toContain('database=us')
  expect(loadTrace(JSON.stringify(traffic)).timeline()).toBe(traffic.timeline())
})

test('two traces differ if the same command runs in another database', () => {
  const traceOf = (database: string) => {
    const sandbox = createSandbox({ databases: ['eu', 'us'] })
    sandbox.storeIn(database).run('SET', 'a', 1)
    return sandbox.traffic
  }
  expect(diffTraces(traceOf('us'), traceOf('us')).equal).toBe(true)
  const { changes } = diffTraces(traceOf('us'), traceOf('eu'))
  expect(changes.map(({ kind }) => kind).sort()).toEqual(['added', 'added', 'removed', 'removed'])
})

/** Returns the changes of keys in a page, as `database key value`. */
function changesIn(html: string): readonly string[] {
  const blocks = [...html.matchAll(/<script type="application\/json" data-block="changes">(.*?)<\/script>/gs)]
  return blocks.flatMap(([, json]) =>
    (JSON.parse(json!) as { database?: string; key: string; now: { value: string } }[]).map(
      ({ database = '-', key, now }) => `${database} ${key} ${now.value}`,
    ),
  )
}

test('a page contains the changes of all databases, in the order of the log', async () => {
  const { traffic } = await story()
  expect(changesIn(toHtml(traffic))).toEqual(['- a first', 'us a by-test', 'us a by-app'])
  expect(changesIn(toHtml(traffic, { redact: ['body'] }))).toEqual([])
})

type Trace = ReturnType<Sandbox['traffic']['toTrace']>

function copy(name: string, { entries, ...trace }: Trace, entry?: number): string {
  const selection = entry === undefined ? { entries, range: [1, entries.at(-1)!.seq] as const } : { entries, entry }
  return copyFormats.find((form) => form.name === name)!.render(selection, trace as never)
}

test('copies of entries use their database', async () => {
  const trace = (await story()).traffic.toTrace()
  const code = copy('vitest', trace)
  expect(code).toMatch(/databases: \['us'\]/)
  expect(code).toContain("sandbox.store.run('SET', 'a', 'first')")
  expect(code).toContain("sandbox.storeIn('us').run('SET', 'a', 'by-test')")
  expect(code).toContain("sandbox.storeIn('us').run('SET', 'a', 'by-app')")
  expect(code).toContain("sandbox.urls.databases['us']")
  expect(code).toContain("sandbox.tokens.databases['us'].store")
  expect(code).toMatch(/match: \{[^}]*database: 'us'/)
  const scenario = JSON.parse(copy('scenario', trace)) as { databases: unknown; steps: unknown[] }
  expect(scenarioProblems(scenario)).toEqual([])
  expect(scenario.databases).toEqual(['us'])
  expect(scenario.steps).toContainEqual({ command: ['SET', 'a', 'first'] })
  expect(scenario.steps).toContainEqual({ command: { database: 'us', argv: ['SET', 'a', 'by-test'] } })
  const request = trace.entries.find(({ type, database }) => type === 'request' && database === 'us')!.seq
  for (const name of ['curl', 'sdk']) {
    expect(copy(name, trace, request)).toContain("Use the variables of sandbox.envFor({ database: 'us' }).")
    expect(copy(name, trace, 1)).not.toContain('envFor')
  }
  expect(copy('curl', trace, request)).toContain('--url "$UPSTASH_REDIS_REST_URL"')
  expect(copy('sdk', trace, request)).toContain("redis.exec(['SET', 'a', 'by-app'])")
})

test('a copy without a known URL of its database works, too', () => {
  const entry = { type: 'command', seq: 1, at: 0, database: '__proto__', argv: ['GET', 'a'], via: 'direct' }
  const trace = { entries: [entry], addresses: { databases: {} } } as unknown as Trace
  expect(copy('curl', trace, 1)).toContain('https://__proto__.store.test')
  expect(copy('vitest', trace)).toContain("sandbox.storeIn('__proto__').run('GET', 'a')")
})

test('recordStoreChanges() records the changes of all databases during an attempt', async () => {
  using sandbox = createSandbox({ databases: ['eu', 'us'] })
  const { traffic, store, storeIn, destinations, queue, clock } = sandbox
  storeIn('us').run('SET', 'a', 'old')
  storeIn('us').run('HSET', 'h', 'f', 1)
  traffic.recordStoreChanges()
  destinations.on('https://shop.test/orders', () => {
    store.run('SET', 'a', 'first')
    storeIn('us').run('SET', 'a', 'new')
    storeIn('us').run('DEL', 'h')
    return new Response()
  })
  queue.publish({ to: 'https://shop.test/orders' })
  await clock.drain()
  const { store: changes } = traffic.last('attempt')!
  expect(changes).toMatchObject({
    added: [{ key: 'a', value: 'first' }],
    removed: [{ key: 'h', database: 'us' }],
    changed: [{ before: { value: 'old' }, after: { key: 'a', value: 'new', database: 'us' } }],
  })
  expect(changes!.added[0]).not.toHaveProperty('database')
  const lines = traffic
    .timeline()
    .split('\n')
    .map((line) => line.trim())
  const told = lines.filter((line) => /^store.*: [-+~]/.test(line))
  expect(told.map((line) => line.slice(0, 14))).toEqual(['store: + a str', 'store us: - h ', 'store us: ~ a '])
  expect(loadTrace(JSON.stringify(traffic)).timeline()).toBe(traffic.timeline())
})
