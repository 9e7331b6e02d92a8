import { vi } from 'vitest'

// Runs the same contract with the first release of the previous version.
vi.mock('nock', async () => {
  const { default: nock } = await import('../versions/clients/node_modules/nock/index.js' as string)
  return { default: nock, isOldestNock14: true }
})
await import('./nock.alone.full.test.js')
