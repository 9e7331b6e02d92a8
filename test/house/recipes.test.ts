import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { defaultDirectory } from '../../fixtures/reporters/pages.js'
import { filesOf, recipeNames, recipePage, shownFiles, withFiles } from '../support/recipe-pages.js'

const isWritten = (name: string): boolean => existsSync(new URL(`../../docs/recipes/${name}.md`, import.meta.url))

/** Options that the sandbox of a recipe needs. */
const optionsOf: Readonly<Record<string, string>> = {
  ratelimit: "{ timers: 'follow' }",
  realtime: "{ timers: 'follow' }",
  'ratelimit-regions': "{ timers: 'follow', databases: ['eu', 'us'] }",
}

describe.each(recipeNames.filter(isWritten))('docs/recipes/%s.md', (name) => {
  const page = recipePage(name)

  test('shows the current files: `npm run docs` writes them', () => {
    expect(page).toBe(withFiles(name, page))
  })

  test('shows each file of the recipe once', () => {
    expect(shownFiles(page).toSorted()).toEqual(filesOf(name).toSorted())
  })

  test('passes only options to the sandbox that the recipe needs', () => {
    for (const [, options] of page.matchAll(/useSandbox\(([^)]*)\)/g)) {
      expect(options).toBe(optionsOf[name] ?? '')
    }
  })
})

// Tests of the check itself.
test('the check detects a changed file on a page', () => {
  const page = recipePage('next')
  expect(withFiles('next', page.replace('retries: 3', 'retries: 2'))).toBe(page)
  expect(page).toContain('retries: 3')
})

test('the workflow uploads the folder of the reporter', () => {
  const file = new URL('../../examples/recipes/github-actions/github-actions.yml', import.meta.url)
  const { jobs } = parse(readFileSync(file, 'utf8'))
  const kept = jobs.test.steps.find(({ uses = '' }: { uses?: string }) => uses.startsWith('actions/upload-artifact'))
  expect(kept).toMatchObject({ if: 'failure()', with: { path: `${defaultDirectory}/` } })
})
