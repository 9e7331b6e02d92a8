import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from '@playwright/test'

const executablePath = '/usr/bin/chromium'

/** Not every machine has a browser. If there is one, it opens the page. */
export const hasBrowser: boolean = existsSync(executablePath)

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] })
}

export interface OpenedPage {
  readonly page: Page
  /** Messages of the console and errors of the page. */
  readonly complaints: string[]
  /** URLs that the page requested. */
  readonly requests: string[]
}

/** Opens a report like a file, without a network. */
export async function open(browser: Browser, html: string, options: { dark?: boolean } = {}): Promise<OpenedPage> {
  const context = await browser.newContext({
    colorScheme: options.dark === true ? 'dark' : 'light',
    viewport: { width: 1280, height: 900 },
  })
  const page = await context.newPage()
  const complaints: string[] = []
  const requests: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.route('**/*', (route) => {
    const url = route.request().url()
    if (url === 'https://report.test/') return route.fulfill({ contentType: 'text/html; charset=utf-8', body: html })
    requests.push(url)
    return route.abort()
  })
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto('https://report.test/')
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true')
  return { page, complaints, requests }
}
