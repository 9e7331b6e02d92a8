import { defineConfig } from '@playwright/test'
import { findChromium } from '../support/chromium.ts'

const chromium = findChromium()

export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.ts',
  fullyParallel: true,
  workers: 2,
  timeout: 60_000,
  // Waits longer than by default, because the machine may be busy.
  expect: { timeout: 20_000 },
  globalSetup: './build-and-serve.ts',
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_FILE ? [['line'], ['json']] : 'line',
  outputDir: '../../node_modules/.cache/playwright-site',
  use: {
    launchOptions: {
      ...(chromium !== undefined && { executablePath: chromium }),
      // No host name resolves, except the address of this machine.
      args: [
        ...['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      ],
    },
  },
})
