import 'stuntdouble/vitest/extend'
import { useSandbox } from 'stuntdouble/vitest'

// A limiter counts in windows of Date: it follows the sandbox's clock.
export const sandbox = useSandbox({ timers: 'follow' })
