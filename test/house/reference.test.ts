import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { commandTable } from '../../src/store/commands/index.js'
import { commandReference } from '../../src/store/rest/reference.js'

const page = readFileSync(new URL('../../docs/reference/commands.md', import.meta.url), 'utf8')

it('the page of commands is up to date: `npm run docs` writes it', () => {
  expect(page).toBe(commandReference())
})

it('names every command once', () => {
  for (const { name } of commandTable.commands) {
    const rows = page.split('\n').filter((line) => line.startsWith(`| \`${name} `) || line.startsWith(`| \`${name}\``))
    const others = commandTable.commands.filter((other) => other.name.startsWith(`${name} `))
    expect(rows, name).toHaveLength(1 + others.length)
  }
})
