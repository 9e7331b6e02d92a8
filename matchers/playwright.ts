import { expect, test } from '@playwright/test'
import { askForPlace, placeOfInfo } from './failure/test-location.js'
import { type SandboxMatchers, sandboxMatchers } from './index.js'

// Usage, in playwright.config.ts: import 'stuntdouble/playwright/extend'
// The type of Playwright's `expect` cannot be extended, so import messageTo, commandOf and entryOf by name.

declare global {
  namespace PlaywrightTest {
    interface Matchers<R, T = unknown> extends SandboxMatchers<R, T> {}
  }
}

askForPlace(() => {
  try {
    return placeOfInfo(test.info())
  } catch {
    // `test.info()` throws outside of a test.
    return undefined
  }
})
expect.extend(sandboxMatchers)
