import { vi } from 'vitest'

// The same workflow with the previous version.
vi.mock('nock', async () => {
  const { default: nock } = await import('nock14' as string)
  return { default: nock }
})
await import('./nock.alone.full.test.js')
