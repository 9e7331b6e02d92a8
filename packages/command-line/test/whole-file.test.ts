import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keeper } from '../../explore/src/workers/shard-file.js'
import { readState, writeState } from '../../server/src/state/state-file.js'

// Files that another user of the machine may create before a file is written, because the name is easy to guess.

let place: string
let path: string
let victim: string
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'stuntdouble-whole-file-'))
  path = join(place, 'kept')
  victim = join(place, 'victim')
  writeFileSync(victim, 'precious', { mode: 0o644 })
})
afterEach(() => rmSync(place, { recursive: true, force: true }))

const permissions = (file: string): number => statSync(file).mode & 0o777

const written: readonly (readonly [string, () => Promise<void>])[] = [
  ['a state file', () => writeState(path, {})],
  ['the file of a shard', () => keeper(path, () => ({}) as never).now()],
]

describe.skipIf(process.platform === 'win32').each(written)('%s', (_, write) => {
  const planted: readonly (readonly [string, (name: string) => void])[] = [
    ['a link to a file', (name) => symlinkSync(victim, name)],
    ['a link to nothing', (name) => symlinkSync(join(place, 'made'), name)],
    ['a link to itself', (name) => symlinkSync(name, name)],
    ['a hard link', (name) => linkSync(victim, name)],
    ['a pipe', (name) => void execFileSync('mkfifo', [name])],
  ]
  test.each(planted)('replaces %s with the name of its temporary file', async (_, plant) => {
    for (const suffix of ['.new', '.part']) plant(`${path}${suffix}`)
    await write()
    expect(lstatSync(path).isFile()).toBe(true)
    expect(existsSync(join(place, 'made'))).toBe(false)
    expect([readFileSync(victim, 'utf8'), permissions(victim)]).toEqual(['precious', 0o644])
    expect(existsSync(`${path}.new`)).toBe(false)
  })

  test('is a new file, even if a temporary file remains', async () => {
    writeFileSync(`${path}.new`, 'half of it')
    chmodSync(`${path}.new`, 0o666)
    const { ino } = statSync(`${path}.new`)
    // A second name keeps the inode number from being reused.
    linkSync(`${path}.new`, join(place, 'left'))
    await write()
    expect(statSync(path).ino).not.toBe(ino)
    expect(readFileSync(join(place, 'left'), 'utf8')).toBe('half of it')
  })

  test('is rejected and not changed if its temporary name is a directory', async () => {
    await write()
    const before = readFileSync(path)
    mkdirSync(`${path}.new`)
    await expect(write()).rejects.toThrow(path)
    expect(readFileSync(path)).toEqual(before)
  })
})

test.skipIf(process.platform === 'win32')(
  'writeState() makes a file readable only by its owner, for any former permissions',
  async () => {
    for (const name of [path, `${path}.new`]) {
      writeFileSync(name, '')
      chmodSync(name, 0o666)
    }
    await writeState(path, {})
    expect([permissions(path), readState(path)]).toEqual([0o600, {}])
  },
)
