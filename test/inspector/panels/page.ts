import { createHash } from 'node:crypto'
import type { Browser, Page } from '@playwright/test'
import { build } from 'esbuild'

const root = new URL('../../../', import.meta.url).pathname

interface Harness {
  readonly html: string
  readonly policy: string
}

let built: Promise<Harness> | undefined

/** A page of all panels, with the policy that a server sends. */
async function harness(): Promise<Harness> {
  const { outputFiles } = await build({
    entryPoints: ['test/inspector/panels/harness.tsx'],
    absWorkingDir: root,
    bundle: true,
    write: false,
    outdir: 'nowhere',
    format: 'iife',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins: [
      {
        name: 'editor-apart',
        setup({ onResolve }) {
          onResolve({ filter: /\/code-editor\.js$/ }, () => ({ path: `${root}src/inspector/editor-loader.ts` }))
        },
      },
    ],
  })
  const [script, style] = ['.js', '.css'].map((end) => outputFiles.find(({ path }) => path.endsWith(end))!.text)
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  return {
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Panels</title><style>${style}</style></head><body><script>${script}</script></body></html>`,
    policy: `default-src 'none'; script-src ${hash(script!)} 'strict-dynamic'; style-src ${hash(style!)}; connect-src 'self'; base-uri 'none'; form-action 'none'`,
  }
}

export interface OpenedPanels {
  readonly page: Page
  /** What the console, the page and dialogs said. */
  readonly complaints: readonly string[]
}

/** Opens the panels of a server, with a recording in the page where one is given. */
export async function openPanels(
  browser: Browser,
  origin: string,
  recording = '',
  prepare: (page: Page) => Promise<void> = async () => {},
): Promise<OpenedPanels> {
  built ??= harness()
  const { html, policy } = await built
  const page = await browser.newPage()
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
  const body = html.replace('<body>', () => `<body>${recording}`)
  const headers = { 'content-security-policy': policy }
  await page.route(`${origin}/`, (route) => route.fulfill({ contentType: 'text/html; charset=utf-8', headers, body }))
  await prepare(page)
  page.setDefaultTimeout(5_000)
  await page.goto(`${origin}/`)
  return { page, complaints }
}
