import { expect, test } from 'vitest'
import { drawn, score, shown, sourceFiles } from '../support/random-lines.js'

const files = sourceFiles()

test('draws the same twenty places for the same seed', () => {
  const places = drawn('1', files)
  expect(places).toHaveLength(20)
  expect(drawn('1', files)).toEqual(places)
  expect(drawn('2', files)).not.toEqual(places)
  expect(new Set(places.map(({ file }) => file)).size).toBeGreaterThan(10)
})

test('shows each line with two lines around it, and no name of a file', () => {
  const places = drawn('1', files)
  const text = shown(places)
  expect(text.match(/^── \d+$/gm)).toHaveLength(20)
  expect(text.match(/^> /gm)).toHaveLength(20)
})

test('scores folders and files separately', () => {
  const places = drawn('1', files)
  const right = places.map(({ file }) => file)
  expect(score(places, right)).toEqual({ folders: 20, files: 20 })
  expect(score(places, [...right.slice(0, 18), right[18]!.replace(/\.tsx?$/, ''), ''])).toEqual({
    folders: 19,
    files: 19,
  })
  const neighbors = right.map((file) => file.replace(/[^/]+$/, 'no-such-file.ts'))
  expect(score(places, neighbors)).toEqual({ folders: 20, files: 0 })
})
