import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeApi } from '../../docs/.vitepress/site/api.js'

test('TypeDoc reads the JSDoc of all entries without a warning', { timeout: 120_000 }, async () => {
  const out = mkdtempSync(join(tmpdir(), 'stuntdouble-api-'))
  try {
    await writeApi(out)
    expect(readdirSync(out, { recursive: true })).toEqual(
      expect.arrayContaining([join('stuntdouble', 'index.md'), join('stuntdouble', 'client.md')]),
    )
  } finally {
    rmSync(out, { recursive: true })
  }
})
