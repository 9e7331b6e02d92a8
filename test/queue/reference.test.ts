import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { canonicalName } from '../../src/kernel/http.js'
import { queueEndpoints } from '../../src/queue/rest/queue-endpoints.js'
import { publishOptions } from '../../src/queue/settings/publish-options.js'
import { queueReference } from '../support/queue-reference.js'

const page = readFileSync(new URL('../../docs/reference/queue.md', import.meta.url), 'utf8')

test('docs/reference/queue.md is up to date; `npm run docs` writes it', () => {
  expect(page).toBe(queueReference(queueEndpoints))
})

test('docs/reference/queue.md lists every endpoint and every publish option', () => {
  for (const { summary } of queueEndpoints) expect(page).toContain(summary)
  for (const { name, about } of publishOptions) {
    expect(page).toContain(`\`Service-${canonicalName(name)}\``)
    expect(page).toContain(about)
  }
})
