import { createSandbox, fault } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { charge, charged, chargeOnce, checkout, failed, type Route, requestShipping, routes } from './shop.ts'

const order = { id: '4711', cents: 1_990 }
const unlucky = { id: '4712', cents: 500 }

tell('1. The shop with its defect')
const charges = await perform(charge)
tell('2. The same outage, and a handler that stores the IDs of handled messages')
const chargesOnce = await perform(chargeOnce)

tell('The defect')
console.log(`The customer ordered for ${euros(order.cents)}.`)
console.log(
  `The first handler charged ${euros(charges)}: its response to attempt 2 was lost, so the queue delivered the message again.`,
)
console.log(`The second handler charged ${euros(chargesOnce)}: it recognized the message ID of attempt 2.`)

/** Runs the outage once, prints the timeline and returns the amount that the customer was charged. */
async function perform(chargeRoute: Route): Promise<number> {
  using sandbox = createSandbox({ seed: 7, startAt: '2030-01-01T09:00:00Z' })
  const { clock, destinations, queue, store, traffic } = sandbox
  Object.assign(process.env, sandbox.env)
  replaceFetch(sandbox)

  destinations.on(routes.charge, chargeRoute)
  destinations.on(routes.charged, charged)
  destinations.on(routes.failed, failed)
  destinations.script(routes.charge, [fault.status(500), fault.lostAck(), fault.pass()])
  destinations.on(routes.ship, () => new Response('warehouse is down', { status: 503 }))

  const before = clock.now()
  await checkout(order)
  await requestShipping(unlucky)
  await clock.drain()

  console.log(traffic.timeline())
  console.log(`\n${traffic.diagram()}`)
  for (const { id, message, response: reply } of queue.deadLetters) {
    console.log(
      `\nDead letter ${id}: ${message.url} responded ${reply.status} to attempt ${message.maxRetries + 1}, the last.`,
    )
  }
  console.log(`Virtual time that passed: ${hours(clock.now() - before)} hours.`)
  return Number(store.get(`charged:${order.id}`))
}

function tell(title: string): void {
  console.log(`\n${title}\n${'='.repeat(title.length)}\n`)
}

function euros(cents: number): string {
  return `${(cents / 100).toFixed(2)} €`
}

function hours(milliseconds: number): string {
  return (milliseconds / 3_600_000).toFixed(1)
}
