import 'stuntdouble/vitest/extend'
import { useSandbox } from 'stuntdouble/vitest'

// The SDK ends and renews streams by timers, which then follow the sandbox's clock.
export const sandbox = useSandbox({ timers: 'follow' })
