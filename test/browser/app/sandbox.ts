import { setupWorker } from 'msw/browser'
import { createSandbox } from 'stuntdouble'
import { mswHandlers } from 'stuntdouble/msw'

export const sandbox = createSandbox({ seed: 7 })

const worker = setupWorker(...mswHandlers(sandbox))
await worker.start({ quiet: true })
