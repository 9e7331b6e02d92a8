import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { controlOperations } from '../../packages/server/src/control/control.js'
import { commandLinePage } from '../support/command-line-page.js'
import { controlReference } from '../support/control-reference.js'

const page = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8')

test('the page of the control API is up to date: `npm run docs` writes it', () => {
  expect(page('reference/control.md')).toBe(controlReference())
})

test('the page of the command line is up to date: `npm run docs` writes it', async () => {
  expect(page('cli.md')).toBe(await commandLinePage())
})

test('the page of the server names only existing operations', () => {
  const named = [...page('server.md').matchAll(/_control\/(?:\{tenant\}|\w+)(\/[\w/-]+)/g)].map(([, path]) => path!)
  expect(named.length).toBeGreaterThan(5)
  const known = controlOperations.map(({ path }) => path)
  expect(named.filter((path) => !known.includes(path))).toEqual([])
})
