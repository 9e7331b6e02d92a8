// What a command costs inside, over the plain Map operation that it stands for.
import { createSandbox } from 'stuntdouble'
import type { Figure, Variant } from '../harness.ts'

const keys = Array.from({ length: 1000 }, (_, index) => `key:${index}`)

function loop(name: string, run: (key: string, index: number) => unknown): Variant {
  return {
    name,
    run(times) {
      for (let index = 0; index < times; index++) run(keys[index % 1000]!, index)
    },
  }
}

type Argv = Parameters<ReturnType<typeof createSandbox>['store']['engine']['execute']>[0]

/** A command with a row of words for each key, as a request would bring them. */
function command(name: string, row: (key: string) => string[]): Variant {
  const { engine } = createSandbox().store
  const rows = keys.map((key) => row(key) as unknown as Argv)
  for (const argv of rows) engine.execute(argv)
  return loop(name, (_, index) => engine.execute(rows[index % 1000]!))
}

function get(): Figure {
  const map = new Map(keys.map((key) => [key, 'value']))
  const { engine } = createSandbox().store
  for (const key of keys) engine.execute(['SET', key, 'value'] as unknown as Argv)
  const rows = keys.map((key) => ['GET', key] as unknown as Argv)
  return {
    name: 'execute GET over Map.get',
    baseline: loop('Map.get', (key) => map.get(key)),
    variants: [loop('GET', (_, index) => engine.execute(rows[index % 1000]!))],
    // 0.35 of the plain operation's speed or better.
    atMost: { GET: 1 / 0.35 },
  }
}

function set(): Figure {
  const map = new Map<string, string>()
  return {
    name: 'execute SET over Map.set',
    baseline: loop('Map.set', (key) => map.set(key, 'value')),
    variants: [command('SET', (key) => ['SET', key, 'value'])],
    atMost: { SET: 1 / 0.35 },
  }
}

function increment(): Figure {
  const map = new Map<string, string>()
  return {
    name: 'execute INCR over reading and writing a decimal text in a Map',
    baseline: loop('Map', (key) => map.set(key, String(Number(map.get(key) ?? '0') + 1))),
    variants: [command('INCR', (key) => ['INCR', key])],
    atMost: { INCR: 1 / 0.35 },
  }
}

function hashSet(): Figure {
  const map = new Map<string, Map<string, string>>()
  const plain = (key: string): void => {
    const hash = map.get(key)
    if (hash) hash.set('field', 'value')
    else map.set(key, new Map([['field', 'value']]))
  }
  return {
    name: 'execute HSET over a Map of Maps',
    baseline: loop('Map', plain),
    variants: [command('HSET', (key) => ['HSET', key, 'field', 'value'])],
    atMost: { HSET: 1 / 0.35 },
  }
}

function sandbox(): Figure {
  return {
    name: 'createSandbox and dispose, over a new Map of one entry',
    baseline: loop('new Map', (key) => new Map([[key, key]])),
    variants: [loop('createSandbox', () => createSandbox().dispose())],
  }
}

export const figures = [get, set, increment, hashSet, sandbox]
