// Compiled, never run: valid faults for each injection point.
import { createSandbox, defineScenario, type Fault, type FaultAt, type FaultRule, fault } from 'stuntdouble'

const { faults } = createSandbox()
declare const anyFault: Fault
declare const atStore: FaultAt<'store.request'>
declare const delivery: 'queue.delivery' | 'queue.callback'
declare const rule: FaultRule

faults.add({ on: 'store.command', fault: fault.errorReply('READONLY') })
faults.add({ on: ['queue.delivery', 'queue.callback'], times: 2, fault: fault.badSignature('rotated') })
faults.add({ on: delivery, fault: fault.lostAck() })
faults.add({ on: [delivery, 'store.request'], match: { method: 'POST' }, fault: fault.status(503) })
faults.add([
  { on: 'store.request', fault: atStore },
  { ...rule, times: 1 },
])
export const kept: FaultRule = { on: 'schedule.fire', fault: fault.delay('5m') }
export const story = defineScenario({ name: 'slow', faults: [{ on: 'stream.event', fault: fault.latency('1s') }] })

// @ts-expect-error: a command of the store has no signature
faults.add({ on: 'store.command', fault: fault.badSignature('key') })
// @ts-expect-error: the second point has no signature
faults.add({ on: ['queue.delivery', 'store.command'], fault: fault.badSignature('key') })
// @ts-expect-error: the fault in the list has no effect at this point
faults.add([{ on: 'store.command', fault: fault.status(503) }])
// @ts-expect-error: the fault in the stored rule has no effect at this point
export const impossible: FaultRule = { on: 'schedule.fire', fault: fault.status(503) }
// @ts-expect-error: the fault in the scenario has no effect at this point
defineScenario({ name: 'never', faults: [{ on: 'queue.delivery', fault: fault.staleRead() }] })
// @ts-expect-error: some faults have no effect at this point
faults.add({ on: 'store.request', fault: anyFault })
// @ts-expect-error: there is no such point
faults.add({ on: 'queue.deliver', fault: fault.status(503) })
// @ts-expect-error: there is no such condition
faults.add({ on: 'queue.delivery', fault: fault.status(503), time: 2 })
// @ts-expect-error: there is nothing of that name to match
faults.add({ on: 'queue.delivery', match: { headers: {}, urll: 'https://a.test' }, fault: fault.status(503) })
// @ts-expect-error: there is no such fault
faults.add({ on: 'queue.delivery', fault: { kind: 'statsu', status: 503 } })
// @ts-expect-error: there is no such flaw
fault.badSignature('rotten')
// @ts-expect-error: a flaw is named
fault.badSignature()
