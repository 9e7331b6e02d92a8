import { defineConfig } from '@playwright/test'
import { type SandboxTestFixtures, type SandboxWorkerFixtures, sandboxEnv } from 'stuntdouble/playwright'
import { findChromium } from '../support/chromium.ts'

// Workers read this file again and must get what the first process chose.
process.env.SANDBOX_PORT ??= String(20_000 + Math.floor(Math.random() * 20_000))
process.env.APP_PORT ??= String(Number(process.env.SANDBOX_PORT) + 100)
process.env.APPROVAL_PORT ??= String(Number(process.env.SANDBOX_PORT) + 101)
const port = Number(process.env.SANDBOX_PORT)
const app = Number(process.env.APP_PORT)
const chromium = findChromium()

export default defineConfig<SandboxTestFixtures, SandboxWorkerFixtures>({
  testDir: '.',
  testMatch: '*.spec.ts',
  workers: 1,
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_FILE ? [['line'], ['json']] : 'line',
  outputDir: '../../node_modules/.cache/playwright',
  use: {
    baseURL: `http://127.0.0.1:${app}`,
    sandboxServer: { port },
    sandboxOptions: { dialect: 'upstash' },
    launchOptions: {
      ...(chromium !== undefined && { executablePath: chromium }),
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    },
  },
  webServer: [
    {
      command: 'node app.ts',
      env: {
        PORT: String(app),
        ...sandboxEnv({ port, dialect: 'upstash', externalHosts: { BANK_URL: 'https://bank.test' } }),
      },
      url: `http://127.0.0.1:${app}/health`,
    },
    {
      command: 'node ../../examples/approval/main.ts',
      // Hides the output of the app, such as warnings of the SDK, from the report.
      stderr: 'ignore',
      env: { PORT: process.env.APPROVAL_PORT, ...sandboxEnv({ port, dialect: 'upstash' }) },
      port: Number(process.env.APPROVAL_PORT),
    },
  ],
})
