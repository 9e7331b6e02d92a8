import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'

// What a user reads who imports an entry with a version of its peer that is too old. Each peer here has the exports of
// that version which matter, as a CommonJS package.

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function projectWith(name: string, version: string, code: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'stuntdouble-peers-'))
  folders.push(folder)
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, name), { recursive: true })
  mkdirSync(join(modules, 'stuntdouble'))
  execFileSync('tar', ['-xzf', inject('tarball'), '--strip-components=1', '-C', join(modules, 'stuntdouble')])
  for (const scope of ['@noble', 'valibot', 'croner', 'rou3', 'eventsource-parser', '@orama', 'yaml', 'tinypool'])
    symlinkSync(join(inject('consumer'), 'node_modules', scope), join(modules, scope))
  writeFileSync(join(modules, name, 'package.json'), JSON.stringify({ name, version, main: 'index.js' }))
  writeFileSync(join(modules, name, 'index.js'), code)
  return folder
}

/** It has the functions that the entry calls on import, but not `Value`, which version 3 added. */
const oldFastCheck = `
const arbitrary = () => ({ map: arbitrary, filter: arbitrary, chain: arbitrary })
for (const name of ['array', 'boolean', 'constant', 'constantFrom', 'integer', 'nat', 'oneof', 'option', 'record', 'string', 'tuple'])
  exports[name] = arbitrary
exports.Arbitrary = class {}
exports.default = exports
exports.__esModule = true`

test.each([
  [
    'nock',
    '13.5.6',
    'module.exports = () => {}',
    'stuntdouble/nock needs nock 14 or newer (installed: 13.5.6). Update nock, or use stuntdouble/fetch.',
  ],
  [
    'msw',
    '1.3.5',
    'exports.rest = {}',
    'stuntdouble/msw needs msw 2 or newer (installed: 1.3.5). Update msw, or use stuntdouble/fetch.',
  ],
  [
    'fast-check',
    '2.25.0',
    oldFastCheck,
    'stuntdouble/fast-check needs fast-check 3 or newer (installed: 2.25.0). Update fast-check, or use stuntdouble/checks, which does not need it.',
  ],
])('with %s %s, its entry says what to do, and stuntdouble/fetch works', (name, version, code, message) => {
  const folder = projectWith(name, version, code)
  const run = (format: 'module' | 'commonjs', load: (entry: string) => string): unknown => {
    const program = `(async () => {
      const { replaceFetch } = ${load('stuntdouble/fetch')}
      try { ${load(`stuntdouble/${name}`)} } catch (error) { console.log(JSON.stringify([typeof replaceFetch, error.message])) }
    })()`
    const args = [`--input-type=${format}`, '--no-warnings', '-e', program]
    return JSON.parse(execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }))
  }
  expect(run('module', (entry) => `await import('${entry}')`)).toEqual(['function', message])
  expect(run('commonjs', (entry) => `require('${entry}')`)).toEqual(['function', message])
})
