import { onTestFinished } from 'vitest'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/index.js'

/**
 * Creates a sandbox behind the global `fetch`, without warnings, until the test has finished. Tests that need an app, the
 * SDKs or `fetch` build on it; a test of one part calls `createSandbox()`, as users do. See README.md in this folder.
 */
export function connectedSandbox(options: SandboxOptions = {}): Sandbox {
  const sandbox = createSandbox({ onWarning: () => {}, ...options })
  replaceFetch(sandbox)
  onTestFinished(() => sandbox.dispose())
  return sandbox
}
