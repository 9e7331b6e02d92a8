import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { installedRuntime } from '../runtimes/install-runtime.js'
import { findChromium, noChromium } from '../support/chromium.js'
import { effort } from '../support/effort.js'
import type { OldVersions } from './consumer.js'
import { browserEnvironment, isPrinted, stepsOf, Walk, withFreePorts } from './walk.js'

// Follows each page of docs/runners, and each page with a separate project, from an empty folder with the packed
// package.

const docs = new URL('../../docs/', import.meta.url)
const pages = readdirSync(new URL('runners/', docs)).map((name) => `runners/${name}`)

/** A page that is followed with the newest or with older versions. */
interface Walked {
  readonly page: string
  readonly versions?: OldVersions
}

/** Older versions of runners, and pages that are followed only in nightly runs. */
const nightly: readonly Walked[] = [
  { page: 'runners/vitest.md', versions: 'vitest-3' },
  { page: 'runners/vitest.md', versions: 'vitest-4' },
  { page: 'runners/jest.md', versions: 'jest-29' },
  { page: 'runners/playwright.md', versions: 'playwright-1.50' },
  { page: 'adapters/playwright.md' },
  { page: 'adapters/playwright.md', versions: 'playwright-1.50' },
]

const walked: readonly Walked[] = [...pages.map((page) => ({ page })), ...(effort === 'nightly' ? nightly : [])]

/** Returns the page for users of that version. */
function forVersion(text: string, versions: OldVersions | undefined): string {
  return versions?.startsWith('vitest')
    ? text.replaceAll('stuntdouble/vitest/extend', 'stuntdouble/vitest4/extend')
    : text
}

/** Pages whose packages are installed only in nightly runs, with the folder of test/runtimes that has them. */
const runtimeOf: Readonly<Record<string, string>> = {
  'runners/cloudflare-workers.md': 'workerd-vitest-5',
  'runners/browser-mode.md': 'browser-mode',
}

/** Returns the folder with the packages of a page, if the nightly has installed them. */
function installedFor(page: string): string | undefined {
  const folder = runtimeOf[page]
  return folder === undefined ? undefined : installedRuntime(folder)
}

function missingRuntime(page: string): string | undefined {
  return installedFor(page) === undefined
    ? 'its packages are not installed; `npm run test:nightly` does that.'
    : undefined
}

function hasProgram(name: string): boolean {
  return spawnSync(name, ['--version']).status === 0
}

/** Returns a message about a missing requirement of a walk. */
const missing: Readonly<Record<string, string | undefined>> = {
  'runners/playwright.md': findChromium() === undefined ? noChromium : undefined,
  'adapters/playwright.md': findChromium() === undefined ? noChromium : undefined,
  'runners/bun.md': hasProgram('bun')
    ? undefined
    : 'there is no Bun on this machine; `npm run test:nightly` fetches one.',
  'runners/deno.md': hasProgram('deno')
    ? undefined
    : 'there is no Deno on this machine; `npm run test:nightly` fetches one.',
  'runners/cloudflare-workers.md': missingRuntime('runners/cloudflare-workers.md'),
  'runners/browser-mode.md': findChromium() === undefined ? noChromium : missingRuntime('runners/browser-mode.md'),
  'runners/other-languages.md':
    hasProgram('python3') && hasProgram('curl') ? undefined : 'there is no python3 or no curl on this machine.',
}

describe('steps of a page', () => {
  test('are files, commands and their output', () => {
    const page =
      'First. `a.js`:\n\n```js\n1\n```\n\nThen:\n\n```sh\nnode a.js\n```\n\n```text\n1\n\n```\n\n```sh\nls\n```\n'
    expect(stepsOf(page)).toEqual([
      { kind: 'file', name: 'a.js', text: '1\n' },
      { kind: 'run', script: 'node a.js\n', prints: ['1'] },
      { kind: 'run', script: 'ls\n', prints: [] },
    ])
    expect(() => stepsOf('A block:\n\n```js\n1\n```\n')).toThrow('neither a file nor a command')
    expect(() => stepsOf('It says:\n\n```text\n1\n```\n')).toThrow('Nothing was run')
  })

  test.each([
    ['one\ntwo\n', ['one', 'two'], true],
    ['one (3 ms)\nbetween\n  two!\n', ['one …', 'two'], true],
    ['two\none\n', ['one', 'two'], false],
    ['one\n', ['one', 'two'], false],
    ['1 xpassed', ['1.passed'], false],
  ])('%j prints %j: %s', (output, lines, expected) => {
    expect(isPrinted(output, lines)).toBe(expected)
  })
})

for (const { page, versions } of walked) {
  const why = missing[page]
  const walk = why === undefined ? test.concurrent : test.skip
  walk(
    `docs/${page} leads to a green test${versions ? `, ${versions}` : ''}${why ? `: not run, ${why}` : ''}`,
    async ({ expect }) => {
      const own = versions === undefined ? inject('consumer') : inject('consumers')[versions]
      const consumer = installedFor(page) ?? own
      const written = forVersion(readFileSync(new URL(page, docs), 'utf8'), versions)
      const text = await withFreePorts(written, [3000, 4010, 4020])
      const place = mkdtempSync(join(tmpdir(), 'stuntdouble-walk-'))
      const folder = join(place, 'app')
      mkdirSync(folder)
      const chromium = /(?:playwright|browser-mode)\.md$/.test(page) ? findChromium() : undefined
      try {
        const env = chromium === undefined ? {} : browserEnvironment(place, consumer, chromium)
        await using walker = new Walk(folder, consumer, env)
        let told = 0
        for (const step of stepsOf(text)) {
          const outcome = await walker.take(step)
          if (outcome === undefined || step.kind === 'file') continue
          const { code, output, script } = outcome
          expect({ script, code, output: code === 0 ? '' : output }).toEqual({ script, code: 0, output: '' })
          if (!isPrinted(output, step.prints)) expect(output).toBe(step.prints.join('\n'))
          told += step.prints.length
        }
        expect(told).toBeGreaterThan(0)
        expect(await walker.mistakes()).toBe('')
      } finally {
        rmSync(place, { recursive: true, force: true })
      }
    },
    300_000,
  )
}
