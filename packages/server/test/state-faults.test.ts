import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'
import { runs } from '../../../test/support/effort.js'
import type { FileSystem, OpenFile } from '../../command-line/src/whole-file.js'
import { StateWriter } from '../src/state/state-writer.js'
import { place, run, started } from './command-line.js'

type Step = 'open' | 'write' | 'sync' | 'close' | 'rename' | 'open directory' | 'sync directory'
const steps: readonly Step[] = ['open', 'write', 'sync', 'close', 'rename', 'open directory', 'sync directory']

/** Files in memory. A test decides what each step does. */
class Disk implements FileSystem {
  readonly files = new Map<string, string>()
  /** Number of writers between opening and renaming a file, and its maximum. */
  writers = 0
  mostWriters = 0
  attempts = 0
  constructor(readonly does: (step: Step) => Promise<void>) {}

  async open(path: string, flags: string): Promise<OpenFile> {
    const isDirectory = flags === 'r'
    if (!isDirectory) this.#begin()
    await this.#step(isDirectory ? 'open directory' : 'open')
    return {
      writeFile: async (content) => {
        this.files.set(path, 'half of it')
        await this.#step('write')
        this.files.set(path, Buffer.from(content).toString())
      },
      sync: () => this.#step(isDirectory ? 'sync directory' : 'sync'),
      close: () => (isDirectory ? Promise.resolve() : this.#step('close')),
    }
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#step('rename')
    this.files.set(to, this.files.get(from)!)
    this.files.delete(from)
    this.writers--
  }

  async unlink(path: string): Promise<void> {
    this.files.delete(path)
    this.writers--
  }

  #begin(): void {
    this.attempts++
    this.writers++
    this.mostWriters = Math.max(this.mostWriters, this.writers)
  }

  #step(step: Step): Promise<void> {
    return this.does(step)
  }
}

const failure = (code: string): Error => Object.assign(new Error(`${code}: no`), { code })

let sandbox: Sandbox
let told: string[]
const keep = (files: FileSystem): StateWriter => {
  const tenants = { all: new Map([['main', sandbox]]), orders: 0 }
  return new StateWriter('/state.json', tenants, (text) => told.push(text), { files })
}
beforeEach(() => {
  vi.useFakeTimers()
  sandbox = createSandbox()
  told = []
})
afterEach(() => {
  vi.useRealTimers()
})
const later = (milliseconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds)

describe('a file system that fails', () => {
  test.each(steps)('at %s: is reported once, and the write is retried until it succeeds', async (broken) => {
    let isBroken = true
    const disk = new Disk(async (step) => {
      if (isBroken && step === broken) throw failure(step === 'write' ? 'ENOSPC' : 'EIO')
    })
    const keeper = keep(disk)
    await later(60_000)
    if (broken === 'open directory') expect(told).toEqual([])
    else {
      expect(told).toEqual([expect.stringMatching(/^stuntdouble: .*not be saved.*\/state\.json: E/)])
      expect(disk.attempts).toBeGreaterThan(3)
      // The delay doubles: a retry every 200 ms would be three hundred attempts.
      expect(disk.attempts).toBeLessThan(15)
      // No other file remains.
      expect([...disk.files.keys()].filter((name) => name !== '/state.json')).toEqual([])
    }
    isBroken = false
    sandbox.store.run('SET', 'k', 'v')
    await later(31_000)
    expect(disk.files.get('/state.json')).toContain('"k"')
    expect(told.slice(1)).toEqual(broken === 'open directory' ? [] : [expect.stringContaining('again')])
    expect(await keeper.close()).toBe(true)
  })

  test.each(steps.filter((step) => step !== 'open directory'))(
    'at %s until the end: is reported by close()',
    async (broken) => {
      const disk = new Disk(async (step) => {
        if (step === broken) throw failure('EIO')
      })
      const keeper = keep(disk)
      await later(1_000)
      expect(await keeper.close()).toBe(false)
      const { attempts } = disk
      await later(100_000)
      expect([told.length, disk.attempts]).toEqual([1, attempts])
    },
  )

  test.each(steps)('by hanging at %s: gets no second writer', async (hanging) => {
    let goOn = (): void => {}
    let hangs = true
    const disk = new Disk(async (step) => {
      if (hangs && step === hanging) await new Promise<void>((resolve) => (goOn = resolve))
    })
    const keeper = keep(disk)
    await later(60_000)
    expect(told).toEqual([expect.stringMatching(/write.*\b5 s .*still running/)])
    expect([disk.attempts, disk.mostWriters]).toEqual([1, 1])
    sandbox.store.run('SET', 'k', 'v')
    const closed = keeper.close()
    await later(10_000)
    expect(await closed).toBe(false)
    let isIdle = false
    void keeper.idle().then(() => (isIdle = true))
    await later(10_000)
    // idle() waits until the write has ended.
    expect([isIdle, disk.attempts]).toEqual([false, 1])
    hangs = false
    goOn()
    await later(10_000)
    expect([isIdle, disk.mostWriters]).toEqual([true, 1])
    expect(disk.files.get('/state.json')).toContain('"k"')
  })

  test('at any step and in any way: never gets two writers, and the file stays complete', async () => {
    const fate = fc.constantFrom('well', 'well', 'fails', 'slow')
    await fc.assert(
      fc.asyncProperty(fc.array(fate, { maxLength: 40 }), async (fates) => {
        const left = [...fates]
        const disk = new Disk(async () => {
          const next = left.shift()
          if (next === 'slow') await new Promise((resolve) => setTimeout(resolve, 7_000))
          if (next === 'fails') throw failure('EIO')
        })
        const keeper = keep(disk)
        for (let turn = 0; turn < 6; turn++) {
          sandbox.store.run('SET', 'k', String(turn))
          await later(3_000)
        }
        const closed = keeper.close()
        await later(400_000)
        const isKept = await closed
        expect(disk.mostWriters).toBeLessThanOrEqual(1)
        const written = disk.files.get('/state.json')
        expect(written === undefined || written.startsWith('{"format":"stuntdouble-state"')).toBe(true)
        if (isKept) expect(written).toContain('"value":"5"')
      }),
      { numRuns: runs(60, 60, 600) },
    )
  })
})

describe('serve --state', () => {
  beforeEach(() => vi.useRealTimers())
  const state = (name: string): string => join(place, name)

  test('rejects a file that cannot be loaded, with one message and exit code 2', async () => {
    writeFileSync(state('bad.json'), 'x')
    const ended = await run('serve', '--port', '0', '--state', state('bad.json'))
    expect([ended.code, ended.out]).toEqual([2, ''])
    expect(ended.err).toMatch(/^stuntdouble: .* is not a state file of stuntdouble\. [^\n]*\n$/)
  })

  test('rejects a second server on a file, but not after kill -9 of the first', async () => {
    const args = ['serve', '--port', '0', '--state', state('one.json')]
    const first = started(...args)
    await first.ready
    const second = await run(...args)
    expect([second.code, second.out]).toEqual([2, ''])
    expect(second.err).toMatch(/^stuntdouble: --state .*used by another server.*\n$/)
    first.child.kill('SIGSTOP')
    expect((await run(...args)).code).toBe(2)
    first.child.kill('SIGKILL')
    await first.ended
    const third = started(...args)
    await third.ready
    third.child.kill('SIGINT')
    expect((await third.ended).code).toBe(0)
  })

  test('reports a state that was not saved once, and with its exit code', async () => {
    const { ready, child, ended } = started('serve', '--port', '0', '--state', join(place, 'nowhere', 'state.json'))
    await ready
    child.kill('SIGINT')
    const { code, err } = await ended
    expect(code).toBe(3)
    expect(err.match(/the state could not be saved to/g)).toHaveLength(1)
  })

  test('saves to a directory that is created later', async () => {
    const { ready, child, ended, printed } = started(
      ...['serve', '--port', '0', '--state', join(place, 'later', 'state.json')],
    )
    await ready
    await printed(/could not be saved/)
    mkdirSync(join(place, 'later'))
    child.kill('SIGINT')
    expect((await ended).code).toBe(0)
  })
})
