import * as v from 'valibot'
import { responseSchema, shallowStepSchema } from '../../../../src/faults/step-schema.js'
import { portableString } from '../../../../src/kernel/portable.js'
import { HttpError } from '../../../../src/protocol/call.js'
import type { Step } from '../../../../src/queue/destinations/delivery-script.js'
import type { DestinationResponse } from '../../../../src/queue/destinations/destination-responses.js'
import { destinationsInternals } from '../../../../src/queue/destinations/destinations.js'
import type { Attempt } from '../../../../src/queue/message/message-entries.js'
import { type ControlOperation, order } from './operation.js'
import { listed, maxSteps, partOf } from './operation-parts.js'

// This schema is only for the documentation. The engine checks the steps and responses, because its messages are
// better.
const given = v.unknown()
const described = (): v.GenericSchema => v.union([shallowStepSchema(), responseSchema()])

export const destinationOrders: readonly ControlOperation[] = [
  order({
    method: 'POST',
    path: '/destinations/script',
    summary:
      'Scripts the next deliveries to a URL: one step per delivery. A step is a fault, or the status of the response.',
    body: v.strictObject({
      to: v.string(),
      steps: v.pipe(
        v.array(given),
        v.maxLength(maxSteps, `A script must have at most ${maxSteps} steps. Send the other steps later.`),
      ),
    }),
    describes: v.strictObject({ to: v.string(), steps: v.array(shallowStepSchema()) }),
    example: { to: 'https://shop.test/orders', steps: [503, { kind: 'reset' }, { kind: 'lost-ack' }] },
    tool: {
      name: 'script_deliveries',
      when: 'Use it to make an endpoint fail a number of times before it responds as usual.',
      effect: 'changes',
      next: 'publish_message and drain_clock, then get_timeline.',
      args: {
        to: 'URL or pattern',
        steps:
          'list with one step per delivery: a status, or a fault such as `{"kind":"lost-ack"}`; list_fault_kinds lists all faults',
      },
    },
    run: ({ destinations }, { to, steps }) => void destinations.script(to, steps as Step[]),
  }),
  order({
    method: 'POST',
    path: '/destinations/respond',
    summary: 'Registers the response of a URL: a status, or status, headers and body.',
    body: v.strictObject({ to: v.string(), response: given }),
    describes: v.strictObject({ to: v.string(), response: described() }),
    example: { to: 'https://shop.test/orders', response: 503 },
    tool: {
      name: 'respond_to_deliveries',
      when: 'Use it for an endpoint that does not run.',
      effect: 'changes',
      next: 'publish_message and drain_clock, then get_timeline.',
      args: { to: 'URL or pattern', response: 'status, or `{"status":201,"body":{"id":1}}`' },
    },
    run: ({ destinations }, { to, response: answer }) => void destinations.respond(to, answer as DestinationResponse),
  }),
  order({
    method: 'POST',
    path: '/destinations/record',
    summary:
      'Starts to record the deliveries to a URL. The URL responds with 200, unless another response was registered or `response` contains one.',
    body: v.strictObject({ to: v.string(), response: v.optional(given) }),
    describes: v.strictObject({ to: v.string(), response: v.optional(described()) }),
    example: { to: 'https://shop.test/failed' },
    run: ({ destinations }, { to, response: answer }) => {
      // Register the response first. If it is invalid, the operation is rejected before it has changed anything.
      if (answer !== undefined) destinations.respond(to, answer as DestinationResponse)
      if (destinationsInternals.of(destinations).recorderAt(to) === undefined) destinations.record(to)
    },
  }),
  {
    method: 'GET',
    path: '/destinations/recorded',
    summary: 'Returns the deliveries that a recorder has recorded.',
    query: { to: 'URL of the recorder', ...partOf },
    run: ({ destinations }, _, asked) => {
      const to = asked.query.get('to') ?? ''
      const recorder = destinationsInternals.of(destinations).recorderAt(to)
      if (recorder === undefined) {
        throw new HttpError(
          404,
          `There is no recorder for ${JSON.stringify(to)}. Send POST /destinations/record first.`,
        )
      }
      const options = { of: 'recorded requests', view: recordedView, size: ({ body }: Attempt) => body.length }
      return listed(recorder.requests, asked, options)
    },
  },
  {
    method: 'DELETE',
    path: '/destinations',
    summary: 'Removes what was registered for one URL, or for all URLs.',
    query: { to: 'registered URL or pattern; default: all' },
    run: ({ destinations }, _, { query }) => destinations.off(query.get('to') ?? undefined),
  },
  {
    method: 'GET',
    path: '/destinations',
    summary: 'Returns warnings about deliveries to URLs without a destination, and about unused script steps.',
    tool: {
      name: 'list_unhandled',
      when: 'Use it when a delivery failed unexpectedly.',
      effect: 'reads',
      next: 'respond_to_deliveries for a URL that has no endpoint.',
    },
    run: ({ destinations }) => ({ unhandled: destinations.unhandled, unused: destinations.unused }),
  },
]

function recordedView(attempt: Attempt): unknown {
  const { messageId, kind, url, method, at, retried, headers, body } = attempt
  return { messageId, kind, url, method, at, retried, headers, body: portableString(body) }
}
