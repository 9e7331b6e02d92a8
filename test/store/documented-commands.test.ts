import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { connectionBound } from '../../src/store/access/categories.js'
import { blockingTable, commandTable } from '../../src/store/commands/index.js'
import { sessionCommands } from '../../src/store/resp/session-commands.js'
import { documentedCommands } from '../support/documented-commands.js'

// docs/protocol/commands.json is written from the fact sheets. It and the command table are checked against each other.

const rows = documentedCommands()
const byName = new Map(rows.map((row) => [row.name, row]))
const built = [...commandTable.commands, ...blockingTable.commands]
const bound = [...sessionCommands.values()]
const names = new Set([...built, ...bound].map(({ name }) => name))

/**
 * Documented commands that the table lacks. Remove a command from this list when it is implemented, because the list
 * must be exact.
 */
const lacking: Readonly<Record<string, readonly string[]>> = {}

describe('docs/protocol/commands.json', () => {
  it('has each command once, in order', () => {
    const names = rows.map(({ name }) => name)
    expect(names).toEqual([...new Set(names)].sort())
  })

  // "285 commands have documentation pages, among them twelve SEARCH.*" [store.md]; subcommands share some of the
  // pages. The eighteen pages of arrays are later. [array.md 2]
  it('has about as many documented commands as the documentation has pages', () => {
    const documented = rows.filter(({ name, status }) => status === 'documented' && !name.startsWith('VECTOR.'))
    expect(documented.length).toBeGreaterThanOrEqual(285)
    expect(documented.length).toBeLessThan(305 + 18)
    expect(documented.filter(({ name }) => name.startsWith('SEARCH.'))).toHaveLength(12)
    // These have been documented since.
    expect(rows.filter(({ name, status }) => status === 'documented' && name.startsWith('VECTOR.'))).toHaveLength(8)
  })

  it('cites pages that name the command', () => {
    const pages = new Map(
      ['store.md', 'search.md', 'vector.md', 'service.md', 'array.md'].map((page) => [
        page,
        new Set(readFileSync(new URL(`../../docs/protocol/${page}`, import.meta.url), 'utf8').match(/[A-Z][\w-]*/g)),
      ]),
    )
    const unnamed = rows
      .filter(({ status }) => status !== 'redis')
      .filter(({ name, source }) => {
        const words = pages.get(/^\w+\.md/.exec(source)?.[0] ?? '')
        return words === undefined || !name.split(/[. ]/).every((word) => words.has(word))
      })
    expect(unnamed).toEqual([])
  })
})

describe('command table and documentation', () => {
  it.each(built)('$name has the status of its row', ({ name, status }) => {
    expect(status).toBe(byName.get(name)?.status)
  })

  it.each(bound.filter(({ name }) => commandTable.named(name) === undefined))(
    '$name of connections has the status of its row',
    ({ name, status = 'documented' }) => {
      expect({ status, door: 'native' }).toEqual({ status: byName.get(name)?.status, door: byName.get(name)?.door })
    },
  )

  it('contain every documented command, except for those that are not implemented yet', () => {
    const missing = rows.filter(({ name, status }) => status === 'documented' && !names.has(name))
    expect(missing.map(({ name }) => name)).toEqual(Object.values(lacking).flat().sort())
  })

  it('document commands that wait or need a connection for the Redis protocol', () => {
    const waiting = blockingTable.commands.map(({ name }) => name)
    const bound = [...connectionBound.keys()]
    const native = rows.filter(({ door, status }) => door === 'native' && status === 'documented')
    expect([...waiting, ...bound].filter((name) => !native.some((row) => row.name.split(' ')[0] === name))).toEqual([])
    const elsewhere = native.filter(({ name }) => commandTable.named(name) !== undefined)
    expect(elsewhere).toEqual([])
  })
})
