import 'stuntdouble/vitest/extend'
import { afterAll, beforeEach } from 'vitest'
import { startDouble } from './double.ts'

// Port 0 is a free port. The handler imports the app when it runs, because the app reads its environment on import.
export const double = await startDouble(0, ({ destinations }) => {
  destinations.on('https://shop.test/remind', async (request) => (await import('./app.ts')).remind(request))
})
Object.assign(process.env, double.sandbox.env)

beforeEach(() => double.reset())
afterAll(() => double.close())
