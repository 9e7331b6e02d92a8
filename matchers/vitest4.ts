import { expect } from 'vitest'
import { sandboxMatchers } from './index.js'

// Usage, in a setup file of Vitest 3.2 or 4: import 'stuntdouble/vitest4/extend'. Its types are in vitest4-types.d.ts.

expect.extend(sandboxMatchers)
