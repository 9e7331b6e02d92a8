import { expect } from 'vitest'
import { type SandboxAsymmetricMatchers, type SandboxMatchers, sandboxMatchers } from './index.js'

// Usage, in a setup file: import 'stuntdouble/vitest/extend'

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown>
    extends SandboxMatchers<R, T> {}
  interface AsymmetricMatchersContaining extends SandboxAsymmetricMatchers {}
}

expect.extend(sandboxMatchers)
