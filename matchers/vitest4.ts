import { expect } from 'vitest'
import { sandboxMatchers } from './index.js'

// One line in a setup file: import 'stuntdouble/vitest4/extend'. For Vitest 3.2 and 4; vitest4-types.d.ts has its types.

expect.extend(sandboxMatchers)
