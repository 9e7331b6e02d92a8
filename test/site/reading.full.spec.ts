import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'
import { expect, open, test } from './reader.ts'

/**
 * One page of each kind: start, playground, concepts, guide, tables, list, recipe, case studies, generated pages,
 * source.
 */
const pages = [
  ...['/', '/playground', '/how-it-works', '/guides/idempotency', '/faults', '/matchers', '/comparison', '/recipes/'],
  ...['/recipes/workflows', '/case-studies', '/runners/vitest', '/reference/commands', '/reference/control', '/cli'],
  ...['/protocol/queue', '/decisions/', '/limits'],
] as const

test('the search finds a page without a network', async ({ page, context }) => {
  await open(page, '/')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('searchbox').fill('dead letter')
  const hits = page.locator('#localsearch-list li')
  await expect(hits.first()).toBeVisible()
  // From here on the network is off: the search index has been loaded into the page.
  await context.setOffline(true)
  await page.getByRole('searchbox').fill('idempotency')
  await expect(hits.first()).toContainText('Idempotency')
  await context.setOffline(false)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/idempotency/)
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Idempotency')
})

test('every page shows the disclaimer once', async ({ page }) => {
  for (const path of ['/', '/playground', '/how-it-works', '/reference/commands']) {
    await open(page, path)
    await expect(page.getByText(/not affiliated with/).filter({ visible: true }), path).toHaveCount(1)
  }
})

for (const [width, some] of [
  [375, pages],
  [2560, pages.slice(0, 4)],
] as const) {
  test(`no page is wider than ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 })
    for (const path of some) {
      await open(page, path)
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(wide, path).toBeLessThanOrEqual(0)
    }
  })
}

test('a timeline on a phone scrolls in its own block', async ({ page }) => {
  await page.setViewportSize({ width: 375, height: 800 })
  await open(page, '/playground')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await expect(page.locator('.rows')).toBeVisible()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(375)
  expect(await page.locator('.rows').evaluate((rows) => rows.scrollWidth > rows.clientWidth)).toBe(true)
})

test('the theme follows the system until the reader changes it', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await open(page, '/how-it-works')
  const lightness = (): Promise<number> =>
    page.evaluate(() => {
      const [red = 0, green = 0, blue = 0] = getComputedStyle(document.body).backgroundColor.match(/\d+/g)!.map(Number)
      return (red + green + blue) / 3
    })
  expect(await lightness()).toBeLessThan(60)
  await page.getByRole('switch').first().click()
  await expect.poll(lightness).toBeGreaterThan(200)
  await page.reload()
  expect(await lightness()).toBeGreaterThan(200)
})

test('all controls work without a mouse', async ({ page }) => {
  await open(page, '/')
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused()
  await tabTo(page, 'Playground')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/playground/)
  await tabTo(page, 'Example')
  await page.keyboard.press('ArrowDown')
  await expect(page.getByLabel('Code')).toHaveValue(/charged/)
  await tabTo(page, 'Run')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('status')).toHaveText('0 passed, 1 failed')
  // Tab leaves the code editor, and Ctrl+Enter in it runs the code.
  await tabTo(page, 'Code')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('status')).toHaveText('0 passed, 1 failed')
  await tabTo(page, 'Time')
  const before = (await page.locator('.instant').textContent())!
  await page.keyboard.press('Home')
  await expect(page.locator('.instant')).not.toHaveText(before)
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('searchbox')).toBeFocused()
})

/** Presses Tab until the element with this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null
      const label = element?.getAttribute('aria-label') ?? element?.labels?.[0]?.textContent ?? element?.textContent
      return label?.trim().split(/\s/)[0]
    })
    if (focused === name) return
  }
  throw new Error(`Tab does not come to ${name}.`)
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** One page of each kind. The longer pages contain no other elements and take seconds each. */
const audited = [
  '/',
  '/playground',
  '/how-it-works',
  '/guides/idempotency',
  '/comparison',
  '/cli',
  '/recipes/',
] as const

// Dark pages differ only in colors.
for (const [colorScheme, options] of [
  ['light', {}],
  ['dark', { runOnly: ['color-contrast'] }],
] as const) {
  test(`axe reports no serious violation in ${colorScheme} pages`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const found: string[] = []
    for (const path of audited) {
      await open(page, path)
      if (path === '/playground') {
        await page.getByLabel('Example').selectOption('charged-twice')
        await page.getByRole('button', { name: 'Run', exact: true }).click()
        await expect(page.locator('.test-result')).toBeVisible()
      }
      await page.addScriptTag({ path: axe })
      found.push(...(await page.evaluate(audit, options)).map((told) => `${path} ${told}`))
    }
    expect(found).toEqual([])
  })
}

interface Axe {
  run(
    options: object,
  ): Promise<{ violations: { id: string; impact: string; nodes: { target: readonly string[] }[] }[] }>
}

/** Runs axe in the page and returns its serious and critical violations. */
async function audit(options: object): Promise<string[]> {
  const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run({
    ...options,
    resultTypes: ['violations'],
  })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(' | ')}`)
}
