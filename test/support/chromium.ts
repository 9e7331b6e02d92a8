import { existsSync } from 'node:fs'

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
]

export const noChromium = 'there is no Chromium on this machine (give its path in CHROMIUM_PATH)'

/** Path of a Chromium for tests that open real pages: `CHROMIUM_PATH`, or where Linux distributions put it. */
export function findChromium(): string | undefined {
  return [process.env.CHROMIUM_PATH, ...places].find((path) => path !== undefined && existsSync(path))
}
