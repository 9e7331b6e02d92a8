// Only a module that is imported can be added to.
import type {} from 'expect'
import { type SandboxAsymmetricMatchers, type SandboxMatchers, sandboxMatchers } from './index.js'

// One line in setupFilesAfterEnv: import 'stuntdouble/jest/extend'. Jest gives `expect` to every test file as a global.

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
    "stuntdouble/jest/extend needs Jest's expect. Import it in a file of setupFilesAfterEnv; with injectGlobals: false call expect.extend(sandboxMatchers) from 'stuntdouble/matchers'.",
  )
}
expect.extend(sandboxMatchers)
