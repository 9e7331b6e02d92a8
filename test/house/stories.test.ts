import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { caseStudyNames, shownStudies, withCaseStudies } from '../support/story-page.js'

const page = readFileSync(new URL('../../docs/case-studies.md', import.meta.url), 'utf8')

test('docs/case-studies.md is up to date: `npm run docs -- stories` writes it', () => {
  expect(page).toBe(withCaseStudies(page))
})

test('the page contains every case study once', () => {
  expect(shownStudies(page).toSorted()).toEqual(caseStudyNames.toSorted())
})

test('the page contains nothing of one machine', () => {
  expect(page).not.toContain(new URL('../..', import.meta.url).pathname)
  expect(page).not.toMatch(/\bfile:|\/(?:home|work|tmp|Users)\//)
})
