import * as v from 'valibot'
import { outboundInternals } from '../../../../src/calls/outbound.js'
import type { OutboundRequest } from '../../../../src/calls/outbound-request.js'
import type { OutboundResponse } from '../../../../src/calls/outbound-responses.js'
import type { OutboundStep } from '../../../../src/calls/outbound-steps.js'
import { faultSchema } from '../../../../src/faults/fault-schema.js'
import { statusCode } from '../../../../src/faults/fault-values.js'
import { responseSchema } from '../../../../src/faults/step-schema.js'
import { portableString } from '../../../../src/kernel/portable.js'
import { HttpError } from '../../../../src/protocol/call.js'
import { type ControlOperation, order } from './operation.js'
import { listed, partOf } from './operation-parts.js'

// This schema is only for the documentation. The engine checks the steps and responses, because its messages are
// better.
const given = v.unknown()
const described = (): v.GenericSchema => v.union([statusCode, responseSchema()])

export const callOrders: readonly ControlOperation[] = [
  order({
    method: 'POST',
    path: '/outbound/script',
    summary:
      'Scripts the next outbound requests to a URL: one step per request. A step is a fault, or the status of the response.',
    body: v.strictObject({ url: v.string(), steps: v.array(given) }),
    describes: v.strictObject({ url: v.string(), steps: v.array(v.union([statusCode, faultSchema()])) }),
    example: { url: 'https://bank.test/charges', steps: [{ kind: 'lost-ack' }, 503] },
    run: ({ outbound }, { url: to, steps }) => void outbound.script(to, steps as OutboundStep[]),
  }),
  order({
    method: 'POST',
    path: '/outbound/respond',
    summary: 'Registers the response to outbound requests to a URL: a status, or status, headers and body.',
    body: v.strictObject({ url: v.string(), response: given }),
    describes: v.strictObject({ url: v.string(), response: described() }),
    example: { url: 'https://bank.test/charges', response: { status: 201, body: { id: 'ch_1' } } },
    run: ({ outbound }, { url: to, response: answer }) => void outbound.respond(to, answer as OutboundResponse),
  }),
  order({
    method: 'POST',
    path: '/outbound/record',
    summary:
      'Starts to record the outbound requests to a URL. The URL responds with 200, unless another response was registered or `response` contains one.',
    body: v.strictObject({ url: v.string(), response: v.optional(given) }),
    describes: v.strictObject({ url: v.string(), response: v.optional(described()) }),
    example: { url: 'https://bank.test/*' },
    run: ({ outbound }, { url: to, response: answer }) => {
      // Register the response first. If it is invalid, the operation is rejected before it has changed anything.
      if (answer !== undefined) outbound.respond(to, answer as OutboundResponse)
      if (outboundInternals.of(outbound).recorderAt(to) === undefined) outbound.record(to)
    },
  }),
  {
    method: 'GET',
    path: '/outbound/recorded',
    summary: 'Returns the outbound requests that a recorder has recorded.',
    query: { url: 'URL of the recorder', ...partOf },
    run: ({ outbound }, _, asked) => {
      const to = asked.query.get('url') ?? ''
      const recorder = outboundInternals.of(outbound).recorderAt(to)
      if (recorder === undefined) {
        throw new HttpError(404, `There is no recorder for ${JSON.stringify(to)}. Send POST /outbound/record first.`)
      }
      const options = {
        of: 'recorded outbound requests',
        view: recordedView,
        size: ({ body }: OutboundRequest) => body.length,
      }
      return listed(recorder.requests, asked, options)
    },
  },
  {
    method: 'DELETE',
    path: '/outbound',
    summary: 'Removes what was registered for one external URL, or for all of them.',
    query: { url: 'registered URL or pattern; default: all' },
    run: ({ outbound }, _, { query }) => outbound.off(query.get('url') ?? undefined),
  },
  {
    method: 'GET',
    path: '/outbound',
    summary: 'Returns warnings about unhandled outbound requests, and about unused script steps.',
    run: ({ outbound }) => ({ unhandled: outbound.unhandled, unused: outbound.unused }),
  },
]

function recordedView({ url, method, at, headers, body, handlerRuns, response: answer }: OutboundRequest): unknown {
  return { url, method, at, headers, body: portableString(body), handlerRuns, status: answer?.status }
}
