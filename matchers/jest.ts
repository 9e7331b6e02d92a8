// TypeScript merges a declaration into a module only if the file imports that module.
import type {} from 'expect'
import { type SandboxAsymmetricMatchers, type SandboxMatchers, sandboxMatchers } from './index.js'

// Usage, in a file of setupFilesAfterEnv: import 'stuntdouble/jest/extend'. It extends the global `expect` of Jest.

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends SandboxMatchers<R, T> {}
  interface AsymmetricMatchers extends SandboxAsymmetricMatchers {}
}

declare global {
  namespace jest {
    // biome-ignore lint/complexity/noBannedTypes: every declaration of an interface must have the same parameters
    interface Matchers<R, T = {}> extends SandboxMatchers<R, T> {}
    interface Expect extends SandboxAsymmetricMatchers {}
    interface InverseAsymmetricMatchers extends SandboxAsymmetricMatchers {}
  }
}

interface Expect {
  extend(matchers: typeof sandboxMatchers): void
}

const { expect } = globalThis as { expect?: Expect }
if (expect === undefined) {
  throw new Error(
    "stuntdouble/jest/extend: Jest's global expect is missing. Import this module in a file of setupFilesAfterEnv. With injectGlobals: false, call expect.extend(sandboxMatchers) from 'stuntdouble/matchers'.",
  )
}
expect.extend(sandboxMatchers)
