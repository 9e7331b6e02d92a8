import { expect, test } from '@playwright/test'
import { askForPlace, placeOfInfo } from './failure/test-location.js'
import { type SandboxMatchers, sandboxMatchers } from './index.js'

// One line in playwright.config.ts: import 'stuntdouble/playwright/extend'
// Playwright lets nobody add to the type of `expect` itself: import messageTo, commandOf and entryOf by name.

declare global {
  namespace PlaywrightTest {
    interface Matchers<R, T = unknown> extends SandboxMatchers<R, T> {}
  }
}

askForPlace(() => {
  try {
    return placeOfInfo(test.info())
  } catch {
    // Outside of a test.
    return undefined
  }
})
expect.extend(sandboxMatchers)
