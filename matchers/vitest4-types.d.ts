// Types of `stuntdouble/vitest4/extend`, for Vitest 3.2 and 4. They equal those of matchers/vitest.ts, but one TypeScript
// program cannot contain both. So this file is not compiled, and the build copies it unchanged.
import type { SandboxAsymmetricMatchers, SandboxMatchers } from '../matchers.js'

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: every declaration of an interface must have the same parameters
  interface Matchers<T = any> extends SandboxMatchers<void, T> {}
  interface AsymmetricMatchersContaining extends SandboxAsymmetricMatchers {}
}
