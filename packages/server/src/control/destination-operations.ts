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

// Which steps and answers are right, the engine says best; the document describes them.
const given = v.unknown()
const described = (): v.GenericSchema => v.union([shallowStepSchema(), responseSchema()])

export const destinationOrders: readonly ControlOperation[] = [
  order({
    method: 'POST',
    path: '/destinations/script',
    summary: 'The next deliveries to a url meet these steps, one each; a number is the status of an answer.',
    body: v.strictObject({
      to: v.string(),
      steps: v.pipe(
        v.array(given),
        v.maxLength(maxSteps, `A script has at most ${maxSteps} steps: send the rest later.`),
      ),
    }),
    describes: v.strictObject({ to: v.string(), steps: v.array(shallowStepSchema()) }),
    example: { to: 'https://shop.test/orders', steps: [503, { kind: 'reset' }, { kind: 'lost-ack' }] },
    tool: {
      name: 'script_deliveries',
      when: 'To make an endpoint fail so many times, whoever answers there afterwards.',
      effect: 'changes',
      next: 'publish_message and drain_clock, then get_timeline.',
      args: {
        to: 'url or pattern',
        steps: 'one for each delivery: a status, or a fault such as `{"kind":"lost-ack"}`; list_fault_kinds lists them',
      },
    },
    run: ({ destinations }, { to, steps }) => void destinations.script(to, steps as Step[]),
  }),
  order({
    method: 'POST',
    path: '/destinations/respond',
    summary: 'What a url answers: a status, or status, headers and body.',
    body: v.strictObject({ to: v.string(), response: given }),
    describes: v.strictObject({ to: v.string(), response: described() }),
    example: { to: 'https://shop.test/orders', response: 503 },
    tool: {
      name: 'respond_to_deliveries',
      when: 'To stand in for an endpoint that does not run.',
      effect: 'changes',
      next: 'publish_message and drain_clock, then get_timeline.',
      args: { to: 'url or pattern', response: 'a status, or `{"status":201,"body":{"id":1}}`' },
    },
    run: ({ destinations }, { to, response: answer }) => void destinations.respond(to, answer as DestinationResponse),
  }),
  order({
    method: 'POST',
    path: '/destinations/record',
    summary: 'Records what arrives at a url from now on; it answers 200 unless something else is registered or given.',
    body: v.strictObject({ to: v.string(), response: v.optional(given) }),
    describes: v.strictObject({ to: v.string(), response: v.optional(described()) }),
    example: { to: 'https://shop.test/failed' },
    run: ({ destinations }, { to, response: answer }) => {
      // First what may be refused: a refused order changes nothing.
      if (answer !== undefined) destinations.respond(to, answer as DestinationResponse)
      if (destinationsInternals.of(destinations).recorderAt(to) === undefined) destinations.record(to)
    },
  }),
  {
    method: 'GET',
    path: '/destinations/recorded',
    summary: 'What a recorder has recorded.',
    query: { to: 'the url as it was given to record', ...partOf },
    run: ({ destinations }, _, asked) => {
      const to = asked.query.get('to') ?? ''
      const recorder = destinationsInternals.of(destinations).recorderAt(to)
      if (recorder === undefined) {
        throw new HttpError(404, `Nothing records ${JSON.stringify(to)}. Send POST /destinations/record first.`)
      }
      const options = { of: 'recorded requests', view: recordedView, size: ({ body }: Attempt) => body.length }
      return listed(recorder.requests, asked, options)
    },
  },
  {
    method: 'DELETE',
    path: '/destinations',
    summary: 'Forgets one registration, or all of them.',
    query: { to: 'the url or pattern to forget' },
    run: ({ destinations }, _, { query }) => destinations.off(query.get('to') ?? undefined),
  },
  {
    method: 'GET',
    path: '/destinations',
    summary: 'Urls that nobody answered for, as sentences, and steps of scripts that no delivery met.',
    tool: {
      name: 'list_unhandled',
      when: 'When a delivery met nobody, or a script was not played to its end.',
      effect: 'reads',
      next: 'respond_to_deliveries for a url that has no endpoint.',
    },
    run: ({ destinations }) => ({ unhandled: destinations.unhandled, unused: destinations.unused }),
  },
]

function recordedView(attempt: Attempt): unknown {
  const { messageId, kind, url, method, at, retried, headers, body } = attempt
  return { messageId, kind, url, method, at, retried, headers, body: portableString(body) }
}
