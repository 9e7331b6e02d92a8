import { worldPolicy } from './world.js'

// SDK 1.3.3 sends no settings of steps. Its tests run with a service that supports them, and here with an older one.

Object.assign(worldPolicy, { workflowStepConfiguration: false, workflowEchoConfiguration: 'off' })

await import('./vendor-routes.test.js')
await import('./sdk-runs.test.js')
await import('./sdk.test.js')
await import('./nested.test.js')
await import('./requests.test.js')
await import('./order.test.js')
await import('./webhooks.test.js')
await import('./deliveries.test.js')
await import('./stubs.test.js')
await import('./faults.test.js')
await import('./crash-points.test.js')
