import 'stuntdouble/vitest/extend'
import { useSandbox } from 'stuntdouble/vitest'

// The limiter counts in windows of Date, so Date must follow the sandbox's clock.
export const sandbox = useSandbox({ timers: 'follow' })
