import { vi } from 'vitest'

// Runs the same tests with the first release of the previous major version.
const { msw } = vi.hoisted(() => ({ msw: '../versions/clients/node_modules/msw' }))
vi.mock('msw2', () => import(`${msw}/lib/core/index.mjs`))
vi.mock('msw2/node', () => import(`${msw}/lib/node/index.mjs`))
vi.mock('msw2/package.json', () => import(`${msw}/package.json`))
await import('./msw2.alone.test.js')
