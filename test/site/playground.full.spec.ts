import { readdirSync, readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { linkOf } from '../../docs/.vitepress/playground/link.ts'
import { expect, open, test } from './reader.ts'

const folder = new URL('../../docs/.vitepress/playground/examples/', import.meta.url)
const codeOf = (name: string): string => readFileSync(new URL(`${name}.js`, folder), 'utf8')

/** Texts that the output of each example must contain. Only one example may fail. */
const stories: Readonly<Record<string, { verdict: string; tells: readonly (string | RegExp)[] }>> = {
  'charged-twice': {
    verdict: '0 passed, 1 failed',
    tells: [
      "expected '1990', received '3980'",
      'the handler ran and responded 200, its response was lost',
      /attempt 2 of 4.*200/,
    ],
  },
  'dead-letter': {
    verdict: '1 passed, 0 failed',
    tells: [/attempt 4 of 4.*503/, 'dead letter', 'https://shop.test/failed → 200'],
  },
  'flow-control': { verdict: '1 passed, 0 failed', tells: ['09:00:10.000', '09:00:20.000', /flow control|printer/] },
  invitation: { verdict: '1 passed, 0 failed', tells: ['2030-01-03', 'clock.advance: 2d', '2030-01-04'] },
  retry: { verdict: '1 passed, 0 failed', tells: ['→ 503', 'waits 12s until 09:00:12.000', 'attempt 3 of 4'] },
}

test('every example has expected output in this file', () => {
  const names = readdirSync(folder).map((file) => file.replace('.js', ''))
  expect(Object.keys(stories).sort()).toEqual(names.sort())
})

for (const [name, { verdict, tells }] of Object.entries(stories)) {
  test(`the example ${name} prints its expected output`, async ({ page }) => {
    await open(page, '/playground')
    await page.getByLabel('Example').selectOption(name)
    await expect(page.getByLabel('Code')).toHaveValue(codeOf(name))
    await run(page)
    await expect(page.getByRole('status')).toHaveText(verdict)
    const output = await page.locator('.test-result').textContent()
    for (const part of tells) expect(output).toMatch(part)
  })
}

test('the two lines in the comment of the example fix the double charge', async ({ page }) => {
  await open(page, '/playground')
  const lines = codeOf('charged-twice').matchAll(/^\/\/ {3}(.*)$/gm)
  const mended = codeOf('charged-twice').replace(
    'async (request) => {\n',
    (start) => `${start}${[...lines].map(([, line]) => line).join('\n')}\n`,
  )
  await page.getByLabel('Code').fill(mended)
  await run(page)
  await expect(page.getByRole('status')).toHaveText('1 passed, 0 failed')
})

test('the slider moves through the instants of the timeline', async ({ page }) => {
  await open(page, '/playground')
  await run(page)
  const slider = page.getByRole('slider', { name: 'Time' })
  const clock = page.locator('.instant')
  const last = page.locator('.rows pre', { hasText: 'attempt 3 of 4' })
  await expect(clock).toContainText('2030-01-01 09:02:40.000')
  await expect(last).toBeVisible()
  await slider.press('ArrowLeft')
  await expect(clock).toContainText('09:00:12.000')
  await expect(last).toBeHidden()
  await expect(page.locator('.rows pre', { hasText: 'attempt 2 of 4' })).toBeVisible()
  await slider.press('Home')
  await expect(clock).toContainText('09:00:00.000')
  await slider.press('End')
  await expect(last).toBeVisible()
})

test('a link shows its code, but runs it only when the reader presses Run', async ({ page }) => {
  const code = `console.log('it ran: <b>bold</b>', new Date(0).getTime())\n`
  await open(page, `/playground${await linkOf(code)}`)
  await expect(page.getByLabel('Code')).toHaveValue(code)
  await expect(page.getByRole('note')).toContainText('has not run yet')
  await page.waitForTimeout(500)
  await expect(page.locator('iframe')).toHaveCount(0)
  await expect(page.locator('.printed')).toHaveCount(0)
  await run(page)
  await expect(page.locator('.printed')).toHaveText('it ran: <b>bold</b> 0')
  await expect(page.locator('.printed b')).toHaveCount(0)
  // The reverse direction: a link copied from the page opens the same code.
  await page.getByRole('button', { name: 'Copy link' }).click()
  await expect(page.getByRole('status')).toContainText('It contains the code')
  const link = page.url()
  await open(page, '/')
  await open(page, link)
  await expect(page.getByLabel('Code')).toHaveValue(code)
})

test('a link that cannot be decoded opens the default example', async ({ page }) => {
  for (const hash of ['#code=', '#code=%%%', '#code=AAAA', '#code=7-7-7', `#code=${'A'.repeat(100_000)}`]) {
    await open(page, '/')
    await open(page, `/playground${hash}`)
    await expect(page.getByLabel('Code')).toHaveValue(/\w/)
  }
})

test('markup in output, names and errors is shown as text', async ({ page }) => {
  const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>{{1+1}}'
  const code = `import { test } from 'stuntdouble/vitest'
// ${markup}
console.log(${JSON.stringify(markup)})
test(${JSON.stringify(markup)}, ({ sandbox }) => {
  sandbox.store.run('SET', ${JSON.stringify(markup)}, 1)
  sandbox.queue.publish({ to: 'https://shop.test/x', body: ${JSON.stringify(markup)} })
  throw new Error(${JSON.stringify(markup)})
})
`
  await open(page, `/playground${await linkOf(code)}`)
  await run(page)
  await expect(page.getByRole('status')).toHaveText('0 passed, 1 failed')
  await expect(page.locator('.test-result h2')).toContainText(markup)
  await expect(page.locator('.failure')).toContainText(markup)
  await expect(page.locator('.printed')).toHaveText(markup)
  await expect(page.locator('.playground :is(img, script)')).toHaveCount(0)
  await expect(page).toHaveTitle(/^Playground/)
})

test('code that cannot run shows the reason', async ({ page }) => {
  await open(page, '/playground')
  for (const [code, why] of [
    ["import { Client } from '@upstash/qstash'", 'cannot import @upstash/qstash'],
    ['const', 'SyntaxError'],
    ['nowhere()', 'nowhere is not defined'],
    ['1', 'contains no test'],
  ] as const) {
    await page.getByLabel('Code').fill(code)
    await run(page)
    await expect(page.getByRole('status')).toContainText(why)
  }
})

async function run(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await expect(page.getByRole('button', { name: 'Run', exact: true })).toBeVisible()
  await expect(page.locator('iframe')).toHaveCount(0)
}
