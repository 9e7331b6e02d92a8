import { vi } from 'vitest'

// Runs the same tests with the previous version.
vi.mock('nock', async () => {
  const { default: nock } = await import('nock14' as string)
  return { default: nock }
})
await import('./nock.alone.test.js')
