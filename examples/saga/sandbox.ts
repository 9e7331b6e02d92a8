import { useSandbox } from 'stuntdouble/vitest'

// Loaded before the route, which reads its environment as it loads. A project of its own names this file in setupFiles.

export const sandbox = useSandbox({ startAt: '2030-01-01T09:00:00Z', intercept: 'fetch' })
