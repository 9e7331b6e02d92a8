// `node --expose-gc bench/against.ts <tree>` measures this tree against another one, such as a worktree of `main`, as peers in
// one process: what a change costs. Further words choose figures by name. Both are bundled from their sources.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { each, measure, type Variant } from './harness.ts'
import { type Argv, engineOf, type Store } from './store.ts'

type Build = typeof import('stuntdouble')
type Sandbox = import('stuntdouble').Sandbox

const words = (...argv: readonly (string | number)[]): Argv => argv.map(String) as unknown as Argv

const manyKeys = 10_000
const keys = Array.from({ length: manyKeys }, (_, index) => `user:${(index * 7919) % manyKeys}:session`)

/** What a row does to a store without a sandbox around it. */
function command(row: (key: string, index: number) => Argv, prepare: (key: string) => Argv = (key) => row(key, 0)) {
  return ({ createSandbox }: Build, name: string): Variant => {
    const engine = engineOf(createSandbox().store)
    const store = new (engine.constructor as new (options: Store['options']) => Store)(engine.options)
    for (const key of keys) store.execute(prepare(key))
    return each(name, keys.map(row), (argv) => store.execute(argv))
  }
}

/** What it does when it is posted. */
function request(path: string, body: unknown, key = 'greeting') {
  return ({ createSandbox }: Build, name: string): Variant => {
    const sandbox = createSandbox()
    sandbox.store.run('SET', key, 'hello')
    const init = {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${sandbox.tokens.store}`, 'content-type': 'application/json' },
    }
    return {
      name,
      async run(times) {
        for (let count = 0; count < times; count++) {
          await (await sandbox.fetch(sandbox.addresses.store + path, init)).text()
          // No test sends a million requests.
          if (count % 100 === 99) sandbox.traffic.clear()
        }
      },
    }
  }
}

const shop = 'https://shop.test/orders'

/** What a message costs an app, by what answers it. */
function delivery(register: (sandbox: Sandbox) => void) {
  return ({ createSandbox }: Build, name: string): Variant => {
    const sandbox = createSandbox()
    register(sandbox)
    return {
      name,
      async run(times) {
        for (let count = 0; count < times; count++) {
          sandbox.queue.publish({ to: shop, body: '{"id":1}' })
          if (count % 100 === 99) {
            await sandbox.clock.drain()
            sandbox.traffic.clear()
          }
        }
        await sandbox.clock.drain()
      },
    }
  }
}

const setString = (key: string): Argv => words('SET', key, 'value')
const ten = Array.from({ length: 10 }, (_, index) => `element ${index}`)

const figures: Readonly<Record<string, (build: Build, name: string) => Variant>> = {
  GET: command((key) => words('GET', key), setString),
  SET: command(setString),
  'SET EX': command((key) => words('SET', key, 'value', 'EX', 60)),
  INCR: command((key) => words('INCR', key)),
  HGET: command(
    (key) => words('HGET', key, 'a'),
    (key) => words('HSET', key, 'a', '1'),
  ),
  'HSET of 3': command((key) => words('HSET', key, 'a', '1', 'b', '2', 'c', '3')),
  'LPUSH of 10 and LTRIM': pushAndTrim,
  'MGET of 20': command((_, index) => words('MGET', ...wrapped(index, 20)), setString),
  ZADD: command((key) => words('ZADD', key, 1, 'member')),
  'request: SET': request('/', ['SET', 'greeting', 'hello']),
  'request: SET EX': request('/', ['SET', 'greeting', 'hello', 'EX', 60]),
  'request: pipeline of 100 SET': request(
    '/pipeline',
    Array.from({ length: 100 }, (_, at) => ['SET', `key:${at}`, 'x']),
  ),
  'request: pipeline of 100 GET': request(
    '/pipeline',
    Array.from({ length: 100 }, () => ['GET', 'greeting']),
  ),
  'publish and deliver': delivery(({ destinations }) => destinations.on(shop, () => new Response())),
  'publish and deliver to a plain function': delivery(({ destinations }) => destinations.answer(shop, () => 200)),
}

/** A list that stays short: elements that go and come would measure the collector of garbage. */
function pushAndTrim({ createSandbox }: Build, name: string): Variant {
  const engine = engineOf(createSandbox().store)
  const store = new (engine.constructor as new (options: Store['options']) => Store)(engine.options)
  const rows = keys.slice(0, 1000).flatMap((key) => [words('LPUSH', key, ...ten), words('LTRIM', key, 0, 9)])
  return each(name, rows, (argv) => store.execute(argv))
}

function wrapped(from: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => keys[(from + at) % manyKeys]!)
}

async function load(tree: string, into: string): Promise<Build> {
  await build({
    entryPoints: [resolve(tree, 'src/index.ts')],
    outfile: into,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
  })
  return import(pathToFileURL(into).href)
}

const [tree, ...wanted] = process.argv.slice(2)
if (tree === undefined) throw new Error('Name the other tree: node --expose-gc bench/against.ts ../main')
const place = mkdtempSync(join(tmpdir(), 'builds-'))
try {
  const other = await load(tree, join(place, 'other.mjs'))
  const own = await load('.', join(place, 'own.mjs'))
  for (const [name, variant] of Object.entries(figures)) {
    if (wanted.length > 0 && !wanted.some((word) => name.toLowerCase().includes(word.toLowerCase()))) continue
    const [baseline, ours] = [variant(other, 'other tree'), variant(own, 'this tree')]
    await measure({ name, baseline, variants: [ours], atMost: { 'this tree': 1.15 }, rounds: 5, turn: 100 })
  }
} finally {
  rmSync(place, { recursive: true })
}
