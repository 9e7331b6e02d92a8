import { expect, test } from 'vitest'
import { textReport } from '../../src/protocol/protocol-report.js'

test('a report prints no codes for the terminal that a name or a value contains', () => {
  const row = {
    from: 'cli',
    change: 'new',
    kind: 'field',
    name: 'A \u001b[2Jb\u009b',
    after: 'c\rd',
    source: 'x:1',
  } as const
  const report = textReport([], { rows: [row], explained: [], stale: [] })
  expect(report).toContain('new field: A \uFFFD[2Jb\uFFFD\n  is:  c\uFFFDd\n  x:1')
})
