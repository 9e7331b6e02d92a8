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

/** Files in memory; what a step does is for the test to say. */
class Disk implements FileSystem {
  readonly files = new Map<string, string>()
  /** Writers between the opening of a file and its renaming, and the most there ever were. */
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
  test.each(steps)('at %s: told once, tried again, written in the end', async (broken) => {
    let isBroken = true
    const disk = new Disk(async (step) => {
      if (isBroken && step === broken) throw failure(step === 'write' ? 'ENOSPC' : 'EIO')
    })
    const keeper = keep(disk)
    await later(60_000)
    if (broken === 'open directory') expect(told).toEqual([])
    else {
      expect(told).toEqual([expect.stringMatching(/^stuntdouble: the state could not be written to \/state\.json: E/)])
      expect(disk.attempts).toBeGreaterThan(3)
      // With a back-off: every 200 ms would be three hundred times.
      expect(disk.attempts).toBeLessThan(15)
      // Nothing is left beside the file.
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
    'at %s to the end: the end tells of it',
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

  test.each(steps)('and one that hangs at %s is not written to beside', async (hanging) => {
    let goOn = (): void => {}
    let hangs = true
    const disk = new Disk(async (step) => {
      if (hangs && step === hanging) await new Promise<void>((resolve) => (goOn = resolve))
    })
    const keeper = keep(disk)
    await later(60_000)
    expect(told).toEqual([expect.stringContaining('a write has taken 5 s and is still running')])
    expect([disk.attempts, disk.mostWriters]).toEqual([1, 1])
    sandbox.store.run('SET', 'k', 'v')
    const closed = keeper.close()
    await later(10_000)
    expect(await closed).toBe(false)
    let isIdle = false
    void keeper.idle().then(() => (isIdle = true))
    await later(10_000)
    // Whoever waits to be the next writer waits on.
    expect([isIdle, disk.attempts]).toEqual([false, 1])
    hangs = false
    goOn()
    await later(10_000)
    expect([isIdle, disk.mostWriters]).toEqual([true, 1])
    expect(disk.files.get('/state.json')).toContain('"k"')
  })

  test('at any step, in any way: never two writers, and the file is whole', async () => {
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

  test('a file that cannot be loaded: one sentence, exit code 2', async () => {
    writeFileSync(state('bad.json'), 'x')
    const ended = await run('serve', '--port', '0', '--state', state('bad.json'))
    expect([ended.code, ended.out]).toEqual([2, ''])
    expect(ended.err).toMatch(/^stuntdouble: .* is not a state file of stuntdouble\. [^\n]*\n$/)
  })

  test('the second server on a file is refused; after kill -9 of the first, the next one is not', async () => {
    const args = ['serve', '--port', '0', '--state', state('one.json')]
    const first = started(...args)
    await first.ready
    const second = await run(...args)
    expect([second.code, second.out]).toEqual([2, ''])
    expect(second.err).toMatch(/^stuntdouble: Another server of this machine keeps its state in .*\n$/)
    first.child.kill('SIGSTOP')
    expect((await run(...args)).code).toBe(2)
    first.child.kill('SIGKILL')
    await first.ended
    const third = started(...args)
    await third.ready
    third.child.kill('SIGINT')
    expect((await third.ended).code).toBe(0)
  })

  test('a state that was not written is told once, and by the exit code', async () => {
    const { ready, child, ended } = started('serve', '--port', '0', '--state', join(place, 'nowhere', 'state.json'))
    await ready
    child.kill('SIGINT')
    const { code, err } = await ended
    expect(code).toBe(3)
    expect(err.match(/the state could not be written to/g)).toHaveLength(1)
  })

  test('a directory that is made later is written to', async () => {
    const { ready, child, ended, printed } = started(
      ...['serve', '--port', '0', '--state', join(place, 'later', 'state.json')],
    )
    await ready
    await printed(/could not be written/)
    mkdirSync(join(place, 'later'))
    child.kill('SIGINT')
    expect((await ended).code).toBe(0)
  })
})
