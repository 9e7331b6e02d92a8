import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/support/effort.js'
import { ArchiveError, archiveLimits, readArchive } from '../../src/protocol/archive.js'
import { type Entry, pax, tar, tgz } from './tar.js'

const file = (path: string, content = 'x'): Entry => ({ path, content })

function read(packed: Uint8Array, limits = archiveLimits): Record<string, string> {
  const files = [...readArchive(packed, limits)].map(([path, bytes]) => [path, new TextDecoder().decode(bytes)])
  return Object.fromEntries(files)
}

describe('an archive of npm', () => {
  test('is read with the paths inside its first folder', () => {
    const packed = tgz([
      { path: 'package/', type: '5' },
      file('package/a.js', 'one'),
      file('package/lib/b.d.ts', 'two'),
    ])
    expect(read(packed)).toEqual({ 'a.js': 'one', 'lib/b.d.ts': 'two' })
  })

  const long = `package/${'folder/'.repeat(20)}file.js`

  test.each([
    ['attributes of POSIX', [pax({ path: long }), file('package/short.js')]],
    ['the form of GNU tar', [{ path: '././@LongLink', type: 'L', content: `${long}\0` }, file('package/short.js')]],
  ])('has long paths in %s', (_form, entries) => {
    expect(Object.keys(read(tgz(entries)))).toEqual([long.slice('package/'.length)])
  })

  test.each(['ustar', 'pax', 'gnu'])('that tar writes in the format %s is read', (format) => {
    const folder = mkdtempSync(join(tmpdir(), 'stuntdouble-tar-'))
    try {
      const paths = ['package.json', 'dist/index.js', `dist/${'deep/'.repeat(18)}index.js`, 'dist/empty.js']
      for (const path of paths) {
        mkdirSync(dirname(join(folder, 'package', path)), { recursive: true })
        writeFileSync(join(folder, 'package', path), path.endsWith('empty.js') ? '' : `content of ${path}`)
      }
      spawnSync('tar', [`--format=${format}`, '-czf', 'a.tgz', 'package'], { cwd: folder })
      const found = read(readFileSync(join(folder, 'a.tgz')))
      expect(Object.keys(found).sort()).toEqual(paths.sort())
      expect(found['dist/index.js']).toBe('content of dist/index.js')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('a hostile archive is rejected', () => {
  const outside = /leaves the folder/
  const notAFile = /is not a file or a folder/

  test.each<[string, readonly Entry[], RegExp]>([
    ['a path with ..', [file('package/../../etc/passwd')], outside],
    ['a path that ends in ..', [file('package/..')], outside],
    ['an absolute path', [file('/etc/passwd')], outside],
    ['a path of Windows', [file('C:/Windows/x')], outside],
    ['a backslash', [file('package\\..\\x')], outside],
    ['a code for the terminal', [file('package/\u001b[2J.js')], outside],
    ['an empty part', [file('package//x')], outside],
    ['a folder outside', [{ path: '../x/', type: '5' }], outside],
    ['a path with .. in attributes', [pax({ path: 'package/../../x' }), file('package/a')], outside],
    ['an absolute path in attributes', [pax({ path: '/x' }), file('package/a')], outside],
    ['a long name with ..', [{ path: 'L', type: 'L', content: '../../x\0' }, file('package/a')], outside],
    ['one path for all entries', [{ ...pax({ path: '../x' }), type: 'g' }, file('package/a')], /one path for all/],
    ['a symbolic link', [{ path: 'package/a', type: '2', linkName: '/etc/passwd' }], notAFile],
    ['a hard link', [{ path: 'package/a', type: '1', linkName: 'package/b' }], notAFile],
    ['a link in attributes', [pax({ linkpath: '/etc' }), file('package/a')], /has a link/],
    ['a device', [{ path: 'package/a', type: '3' }], notAFile],
    ['a pipe', [{ path: 'package/a', type: '6' }], notAFile],
    ['the same path twice', [file('package/a'), file('package/a')], /occurs twice/],
    ['the same path in two folders', [file('package/a'), file('other/a')], /occurs twice/],
    ['a size beyond the end', [{ path: 'package/a', content: 'x', size: 100_000 }], /after the end/],
    ['a size in attributes beyond the end', [pax({ size: '999999' }), file('package/a')], /after the end/],
    ['a size that is not a number', [pax({ size: '-1' }), file('package/a')], /damaged/],
    ['damaged attributes', [{ path: 'p', type: 'x', content: '999 path=x\n' }, file('package/a')], /damaged/],
    ['attributes without a length', [{ path: 'p', type: 'x', content: 'path=x\n' }, file('package/a')], /damaged/],
    ['a wrong checksum', [{ path: 'package/a', checksum: 1 }], /header of the archive is damaged/],
  ])('%s', (_what, entries, message) => {
    const run = (): unknown => read(tgz([file('package/before.js'), ...entries]))
    expect(run).toThrow(ArchiveError)
    expect(run).toThrow(message)
  })

  test.each([
    ['no gzip data', Buffer.from('hello')],
    ['truncated gzip data', tgz([file('package/a', 'x'.repeat(5000))]).subarray(0, 60)],
  ])('%s', (_what, packed) => {
    expect(() => read(packed)).toThrow(/not valid gzip/)
  })

  test('too many packed bytes', () => {
    const packed = tgz([file('package/a')])
    expect(() => read(packed, { ...archiveLimits, maxPackedBytes: packed.length - 1 })).toThrow(/more than \d+ bytes/)
    expect(read(packed, { ...archiveLimits, maxPackedBytes: packed.length })).toEqual({ a: 'x' })
  })

  test('too many unpacked bytes, before they are all unpacked', () => {
    const packed = tgz([file('package/a', 'x'.repeat(9_000))])
    expect(() => read(packed, { ...archiveLimits, maxBytes: 9_000 })).toThrow(/when it is unpacked/)
    expect(Object.keys(read(packed, { ...archiveLimits, maxBytes: 11_000 }))).toEqual(['a'])
  })

  test('a bomb: 20 MB of zeros in 20 KB', () => {
    const packed = gzipSync(Buffer.alloc(20_000_000))
    expect(packed.length).toBeLessThan(25_000)
    expect(() => read(packed)).toThrow(/when it is unpacked/)
  })

  test('one file that is too large', () => {
    const packed = tgz([file('package/a', 'x'.repeat(101))])
    expect(() => read(packed, { ...archiveLimits, maxFileBytes: 100 })).toThrow(/an entry has more than 100 bytes/)
  })

  test('too many entries, also without content', () => {
    const folders = (count: number): Uint8Array =>
      tgz(Array.from({ length: count }, (_, index) => ({ path: `package/${index}/`, type: '5' })))
    expect(() => read(folders(11), { ...archiveLimits, maxFiles: 10 })).toThrow(/more than 10 entries/)
    expect(read(folders(10), { ...archiveLimits, maxFiles: 10 })).toEqual({})
  })

  test('with any bytes changed, it is read or rejected, and never another error', () => {
    const whole = tar([pax({ path: 'package/long.js' }), file('package/a', 'x'.repeat(600)), file('package/b')])
    const change = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) })
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
        const bytes = Uint8Array.from(whole)
        for (const { at, byte } of changes) bytes[at] = byte
        try {
          for (const path of readArchive(gzipSync(bytes)).keys()) expect(path.split('/')).not.toContain('..')
        } catch (error) {
          expect(error).toBeInstanceOf(ArchiveError)
        }
      }),
      { numRuns: runs(300, 2_000, 20_000) },
    )
  })
})
