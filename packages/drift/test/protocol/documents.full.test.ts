import { expect, test } from 'vitest'
import { readOpenApi } from '../../src/protocol/read-openapi.js'

// With a search from the beginning for each line or each key, this would take minutes.
test('a file with many paths is read quickly', () => {
  const paths = Array.from({ length: 10_000 }, (_, index) => `/v2/${index}: {get: {responses: {200: {}}}}`)
  const start = performance.now()
  const items = readOpenApi('many.json', `{openapi: 3.1.0, paths: {${paths.join(',\n')}}}`)
  expect(performance.now() - start).toBeLessThan(20_000)
  expect(items.find(({ name }) => name === 'GET /v2/9999')?.source).toBe('many.json:10000')
})
