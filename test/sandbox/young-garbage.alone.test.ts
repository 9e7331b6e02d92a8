import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createSandbox } from '../../src/index.js'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { type: 'minor' | 'major' }) => void

/**
 * Each object that V8 allocates among its old objects keeps everything that it refers to until the next major
 * collection. Such objects are functions that are assigned to a property, hidden classes of object literals with a
 * getter, and the tables of a WeakMap. One of them is enough to copy all garbage of a sandbox twice.
 */
test('a minor garbage collection frees a disposed sandbox', () => {
  const count = 50
  const make = (): void => {
    for (let made = 0; made < count; made++) createSandbox().dispose()
  }
  make()
  collect({ type: 'major' })
  const before = process.memoryUsage().heapUsed
  make()
  for (let times = 0; times < 3; times++) collect({ type: 'minor' })
  const kept = (process.memoryUsage().heapUsed - before) / count
  // A sandbox takes about 65 kB.
  expect(kept).toBeLessThan(20_000)
})
