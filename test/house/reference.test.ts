import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { defaultPolicy } from '../../src/policy/policy.js'
import { commandTable } from '../../src/store/commands/index.js'
import { sessionCommands } from '../../src/store/native/session-commands.js'
import { commandReference } from '../../src/store/rest/reference.js'
import { differenceReference } from '../support/difference-reference.js'
import { documentedCommands } from '../support/documented-commands.js'
import { policyReference } from '../support/policy-reference.js'

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
