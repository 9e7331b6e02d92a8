import { vi } from 'vitest'

// Runs the same tests with the first release of the previous version.
vi.mock('nock', async () => {
  const { default: nock } = await import('../versions/clients/node_modules/nock/index.js' as string)
  return { default: nock }
})
await import('./nock.alone.test.js')
