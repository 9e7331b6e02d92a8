import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { appendStepSummary } from '../src/step-summary-file.js'

const mebibyte = 1024 * 1024

let folder: string
let file: string
let said: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stuntdouble-summary-'))
  file = join(folder, 'step.md')
  said = []
  const spy = vi.spyOn(console, 'error').mockImplementation((line: string) => void said.push(line))
  vi.stubEnv('GITHUB_ACTIONS', 'true')
  vi.stubEnv('GITHUB_STEP_SUMMARY', file)
  onTestFinished(() => {
    spy.mockRestore()
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true, force: true })
  })
})

describe('the summary of a step', () => {
  test('creates the file, and appends to it', () => {
    appendStepSummary(() => 'one\n')
    appendFileSync(file, 'of another tool\n')
    appendStepSummary(() => 'two\n')
    expect(readFileSync(file, 'utf8')).toBe('one\nof another tool\ntwo\n')
    expect(said).toEqual([])
  })

  test('gets what the file has left of 1 MiB, counted in bytes', () => {
    const rooms: number[] = []
    const append = () =>
      appendStepSummary((room) => {
        rooms.push(room)
        return '€'.repeat(100)
      })
    append()
    append()
    expect(rooms[0]! - rooms[1]!).toBe(300)
    // A file with more than 1 MiB loses the summaries of all tools, and others may append later.
    expect(rooms[0]).toBeLessThan(mebibyte)
    expect(rooms[0]).toBeGreaterThan(mebibyte * 0.95)
  })

  test.each(['false', '1', '', undefined])('is not written if GITHUB_ACTIONS is %j', (value) => {
    vi.stubEnv('GITHUB_ACTIONS', value)
    appendStepSummary(() => 'one\n')
    expect(existsSync(file)).toBe(false)
    expect(said).toEqual([])
  })

  test('is reported in one line if there is no file to write', () => {
    for (const path of ['', undefined, folder, join(folder, 'missing\n::error::x', 'step.md')]) {
      said = []
      vi.stubEnv('GITHUB_STEP_SUMMARY', path)
      appendStepSummary(() => 'one\n')
      expect(said).toHaveLength(1)
      expect(said[0]).toMatch(/^stuntdouble wrote no step summary: /)
      expect(said[0]).not.toMatch(/^::/m)
    }
  })

  test('is reported if the file has no room', () => {
    writeFileSync(file, 'x'.repeat(mebibyte))
    appendStepSummary((room) => (room > 0 ? 'one\n' : undefined))
    expect(said).toEqual([expect.stringMatching(/^stuntdouble wrote no step summary: .* has no room for it\.$/)])
    expect(readFileSync(file)).toHaveLength(mebibyte)
  })

  test('does not fail the run if it cannot be composed', () => {
    appendStepSummary(() => {
      throw new Error('a mistake')
    })
    expect(said).toEqual(['stuntdouble wrote no step summary: a mistake.'])
  })

  test.skipIf(process.platform === 'win32')('does not wait for a reader of a pipe', () => {
    execFileSync('mkfifo', [file])
    appendStepSummary(() => 'one\n')
    expect(said).toEqual([expect.stringMatching(/is not a file\.$/)])
  })

  test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('does not fail for a read-only file', () => {
    writeFileSync(file, '')
    chmodSync(file, 0o444)
    appendStepSummary(() => 'one\n')
    expect(said).toHaveLength(1)
  })
})
