import { useSandbox } from 'stuntdouble/vitest'

// This file is loaded before the route, which reads its environment on import. In your project, list it in setupFiles.

export const sandbox = useSandbox({ startAt: '2030-01-01T09:00:00Z', intercept: 'fetch' })
