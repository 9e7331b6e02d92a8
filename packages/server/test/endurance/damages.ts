import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom, type Random } from '../../../../src/kernel/random.js'
import { createSandbox } from '../../../../src/sandbox/sandbox.js'
import { type ServerState, writeState } from '../../src/state/state-file.js'
import type { Built } from './built.js'

export interface DamagesOutcome {
  readonly damages: number
  /** Number of damages that the server rejected: exit code 2, one line, nothing listening, and the file unchanged. */
  readonly refused: number
  /** Number of harmless damages: the server is ready, and ends with 0. */
  readonly served: number
  readonly wrong: readonly string[]
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

const values: readonly Json[] = [
  null,
  true,
  -1,
  0.5,
  9e15,
  1e308,
  '',
  'x',
  [],
  {},
  [null],
  { base64: '%' },
  '__proto__',
]

/** Starts the server with files that are valid but wrong inside, and with files that are cut. */
export async function damages(times: number, { place, program }: Built, seed = 1): Promise<DamagesOutcome> {
  const random = createRandom(seed)
  const whole = JSON.stringify({ main: await lived() })
  const file = join(place, 'damaged.json')
  const wrong: string[] = []
  let [refused, served] = [0, 0]
  for (let turn = 0; turn < times; turn++) {
    const isCut = turn % 10 === 9
    const what = isCut ? await cut(file, whole, random) : await crafted(file, whole, random)
    const before = readFileSync(file)
    const { code, out, errors } = await outcome(
      spawn(process.execPath, [program('cli'), 'serve', '--port', '0', '--clock', 'manual', '--state', file]),
    )
    const complain = (sentence: string): number => wrong.push(`turn ${turn}, ${what}: ${sentence}`)
    if (code === 0 && !isCut) served++
    else if (code === 2) refused++
    else complain(`it ended with ${code}: ${errors.slice(0, 300)}`)
    if (code !== 2) continue
    if (/http:\/\/|^ready$/m.test(out)) complain(`it is refused, and served: ${out.slice(0, 200)}`)
    if (!/^stuntdouble: [^\n]+\n$/.test(errors)) complain(`not one sentence: ${errors.slice(0, 300)}`)
    if (!readFileSync(file).equals(before)) complain('the file was changed')
  }
  return { damages: times, refused, served, wrong }
}

/** Returns a dump that contains something of every kind. */
async function lived(): Promise<Json> {
  using sandbox = createSandbox()
  const { store, queue, destinations, clock } = sandbox
  for (const command of [
    ['SET', 'text', 'x', 'EX', '60'],
    ['HSET', 'hash', 'a', '1', 'b', '2'],
    ['ZADD', 'sorted', '1', 'a', '2.5', 'b'],
    ['RPUSH', 'list', 'a', 'b'],
    ['SADD', 'set', '1', 'x'],
    ['XADD', 'stream', '*', 'a', '1'],
    ['XGROUP', 'CREATE', 'stream', 'group', '0'],
    ['XREADGROUP', 'GROUP', 'group', 'me', 'STREAMS', 'stream', '>'],
    ['JSON.SET', 'json', '$', '{"a":[1,2]}'],
    ['ACL', 'SETUSER', 'alice', 'on', '+@all', '~*'],
  ]) {
    store.run(...(command as [string, ...string[]]))
  }
  destinations.respond('https://fails.test', 500)
  destinations.respond('https://works.test', 200)
  queue.publish({ to: 'https://works.test', body: 'x' })
  queue.publish({ to: 'https://fails.test', body: 'x', retries: 0 })
  queue.publish({ to: 'https://works.test', body: 'x', queue: 'line', delay: '1h' })
  await clock.advance('1m')
  return JSON.parse(JSON.stringify(sandbox.dump())) as Json
}

async function crafted(file: string, whole: string, random: Random): Promise<string> {
  const state = JSON.parse(whole) as { [name: string]: Json }
  const path: string[] = []
  let at: { [name: string]: Json } = state
  for (;;) {
    const names: readonly string[] = Object.keys(at)
    const name: string = names[random.int(names.length)]!
    path.push(name)
    const inner: Json = at[name]!
    const isLeaf = typeof inner !== 'object' || inner === null || Object.keys(inner).length === 0
    if (isLeaf || random.int(5) === 0) {
      const value = values[random.int(values.length)]!
      at[name] = value
      await writeState(file, state as unknown as ServerState)
      return `${path.join('.')} = ${JSON.stringify(value)}`
    }
    at = inner as { [name: string]: Json }
  }
}

async function cut(file: string, whole: string, random: Random): Promise<string> {
  await writeState(file, JSON.parse(whole) as ServerState)
  const content = readFileSync(file)
  const length = 1 + random.int(content.length - 1)
  writeFileSync(file, content.subarray(0, length))
  return `cut to ${length} bytes`
}

/** Returns the output of a server until it ends. A server that is ready gets a signal. */
function outcome(child: ChildProcess): Promise<{ code: number | null; out: string; errors: string }> {
  return new Promise((resolve) => {
    let [out, errors] = ['', '']
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      out += text
      if (/^ready$/m.test(out)) child.kill('SIGTERM')
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      errors += text
    })
    const late = setTimeout(() => child.kill('SIGKILL'), 20_000)
    child.once('close', (code) => {
      clearTimeout(late)
      resolve({ code, out, errors })
    })
  })
}
