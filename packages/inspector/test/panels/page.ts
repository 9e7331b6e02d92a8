import type { Browser, Locator, Page } from '@playwright/test'

export interface OpenedPage {
  readonly page: Page
  /** What the console, the page and dialogs said. */
  readonly complaints: readonly string[]
  /** Opens a panel. */
  panel(name: string): Promise<Locator>
}

/** Opens the inspector at an address, once somebody has prepared what it is answered with. */
export async function openPage(
  browser: Browser,
  address: string,
  prepare: (page: Page) => Promise<unknown> = async () => {},
): Promise<OpenedPage> {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
  const complaints: string[] = []
  page.on('console', (message) => {
    // A refusal of the server is told in the page, and by the browser, too.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.setDefaultTimeout(5_000)
  await prepare(page)
  await page.goto(address)
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true')
  const panel = async (name: string): Promise<Locator> => {
    await page.getByRole('tablist', { name: 'Panels' }).getByRole('tab', { name }).click()
    return page.getByRole('tabpanel', { name })
  }
  return { page, complaints, panel }
}
