import type { Browser, Locator, Page } from '@playwright/test'

export interface OpenedPage {
  readonly page: Page
  /** Errors of the console, of the page and of dialogs. */
  readonly complaints: readonly string[]
  /** Opens a panel. */
  panel(name: string): Promise<Locator>
}

/** Opens the inspector at a URL, after `prepare` has set up its responses. */
export async function openPage(
  browser: Browser,
  address: string,
  prepare: (page: Page) => Promise<unknown> = async () => {},
): Promise<OpenedPage> {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
  const complaints: string[] = []
  page.on('console', (message) => {
    // The page reports a rejection of the server, and so does the browser.
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
