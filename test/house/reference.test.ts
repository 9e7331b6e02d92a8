import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { programs } from '../../packages/server/src/programs/programs.js'
import { oldestPeers } from '../../src/kernel/peers.js'
import { defaultPolicy } from '../../src/policy/policy.js'
import { commandTable } from '../../src/store/commands/index.js'
import { sessionCommands } from '../../src/store/resp/session-commands.js'
import { differenceReference } from '../support/difference-reference.js'
import { documentedCommands } from '../support/documented-commands.js'
import { policyReference } from '../support/policy-reference.js'
import { commandReference } from '../support/store-reference.js'

const root = new URL('../..', import.meta.url)
const page = readFileSync(new URL('../../docs/reference/commands.md', import.meta.url), 'utf8')

it('the page of commands is up to date: `npm run docs` writes it', () => {
  expect(page).toBe(commandReference(documentedCommands(), [...sessionCommands.values()]))
})

it('the page of policies is up to date: `npm run docs` writes it', () => {
  const policies = readFileSync(new URL('../../docs/reference/policies.md', import.meta.url), 'utf8')
  expect(policies).toBe(policyReference())
  for (const name of Object.keys(defaultPolicy)) expect(policies).toContain(`| \`${name}\` |`)
})

it('the page of named differences is up to date: `npm run docs` writes it', () => {
  const differences = readFileSync(new URL('../../docs/reference/differences.md', import.meta.url), 'utf8')
  expect(differences).toBe(differenceReference())
})

it('names every command once', () => {
  for (const { name } of commandTable.commands) {
    const rows = page.split('\n').filter((line) => line.startsWith(`| \`${name} `) || line.startsWith(`| \`${name}\``))
    const others = commandTable.commands.filter((other) => other.name.startsWith(`${name} `))
    expect(rows, name).toHaveLength(1 + others.length)
  }
})

it('uses only existing options of commands, in examples and on every page', async () => {
  const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].map((page) => [
    page,
    readFileSync(new URL(page, root), 'utf8'),
  ])
  let seen = 0
  for (const [name, { load }] of Object.entries(programs)) {
    const { args, examples, repeated = [] } = (await load()).program
    expect(Object.keys(args), `options of ${name} that may come several times`).toEqual(
      expect.arrayContaining([...repeated]),
    )
    for (const [page, text] of [...pages, ['its examples', examples.join('\n')]]) {
      // A command line ends with its line, its code span, a comment, the next command, or the command that it runs.
      for (const [line] of text!.matchAll(new RegExp(`\\bstuntdouble ${name} [^\\n\`#|;&]*`, 'g'))) {
        for (const [, option] of line.split(' -- ')[0]!.matchAll(/\s--([a-z][\w-]*)/g)) {
          seen++
          expect(Object.keys(args), `${page}: ${line}`).toContain(option)
        }
      }
    }
  }
  expect(seen).toBeGreaterThan(50)
})

it.each([
  ['fast-check', 'docs/checks.md'],
  ['msw', 'docs/adapters/msw.md'],
  ['nock', 'docs/adapters/nock.md'],
] as const)('names the oldest and the newest supported version of %s, in %s', (peer, path) => {
  const { devDependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }
  const majors = [String(oldestPeers[peer][0]), /\d+/.exec(devDependencies[peer]!)![0]]
  const [beginning = ''] = readFileSync(new URL(path, root), 'utf8').split('\n## ')
  const named = new RegExp(`${peer}\\S* (\\d+) (?:or|and) (\\d+)`).exec(beginning)?.slice(1)
  expect(named?.sort()).toEqual(majors.sort())
})

it('the pages of the protocol link to the reference of the double', () => {
  const protocol = (name: string): string => readFileSync(new URL(`docs/protocol/${name}.md`, root), 'utf8')
  for (const [name, link] of [
    ['workflow', '../workflows.md'],
    ['search', '../search.md'],
    ['search', '../redis-protocol.md'],
  ] as const) {
    const [beginning = ''] = protocol(name).split('\n## ')
    expect(beginning).toContain(`](${link})`)
    expect(beginning).not.toMatch(/the double does not/i)
  }
})
