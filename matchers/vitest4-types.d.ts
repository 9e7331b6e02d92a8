// `stuntdouble/vitest4/extend`, for Vitest 3.2 and 4: what matchers/vitest.ts declares, in the form of their types. One
// program cannot hold both, so this is written by hand, is no part of ours, and the build takes it along as it is.
import type { SandboxAsymmetricMatchers, SandboxMatchers } from '../matchers.js'

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: every declaration of an interface must have the same parameters
  interface Matchers<T = any> extends SandboxMatchers<void, T> {}
  interface AsymmetricMatchersContaining extends SandboxAsymmetricMatchers {}
}
