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

// Which steps and answers are right, the engine says best; the document describes them.
const given = v.unknown()
const described = (): v.GenericSchema => v.union([statusCode, responseSchema()])

export const callOrders: readonly ControlOperation[] = [
  order({
    method: 'POST',
    path: '/outbound/script',
    summary:
      'The next calls of the app to a foreign url meet these faults, one each; a number is the status of an answer.',
    body: v.strictObject({ url: v.string(), steps: v.array(given) }),
    describes: v.strictObject({ url: v.string(), steps: v.array(v.union([statusCode, faultSchema()])) }),
    example: { url: 'https://bank.test/charges', steps: [{ kind: 'lost-ack' }, 503] },
    run: ({ outbound }, { url: to, steps }) => void outbound.script(to, steps as OutboundStep[]),
  }),
  order({
    method: 'POST',
    path: '/outbound/respond',
    summary: 'What a foreign url answers the app: a status, or status, headers and body.',
    body: v.strictObject({ url: v.string(), response: given }),
    describes: v.strictObject({ url: v.string(), response: described() }),
    example: { url: 'https://bank.test/charges', response: { status: 201, body: { id: 'ch_1' } } },
    run: ({ outbound }, { url: to, response: answer }) => void outbound.respond(to, answer as OutboundResponse),
  }),
  order({
    method: 'POST',
    path: '/outbound/record',
    summary:
      'Records what the app calls from now on; the url answers 200 unless something else is registered or given.',
    body: v.strictObject({ url: v.string(), response: v.optional(given) }),
    describes: v.strictObject({ url: v.string(), response: v.optional(described()) }),
    example: { url: 'https://bank.test/*' },
    run: ({ outbound }, { url: to, response: answer }) => {
      // First what may be refused: a refused order changes nothing.
      if (answer !== undefined) outbound.respond(to, answer as OutboundResponse)
      if (outboundInternals.of(outbound).recorderAt(to) === undefined) outbound.record(to)
    },
  }),
  {
    method: 'GET',
    path: '/outbound/recorded',
    summary: 'What a recorder of calls has recorded.',
    query: { url: 'the url as it was given to record', ...partOf },
    run: ({ outbound }, _, asked) => {
      const to = asked.query.get('url') ?? ''
      const recorder = outboundInternals.of(outbound).recorderAt(to)
      if (recorder === undefined) {
        throw new HttpError(404, `Nothing records ${JSON.stringify(to)}. Send POST /outbound/record first.`)
      }
      const options = { of: 'recorded calls', view: recordedView, size: ({ body }: OutboundRequest) => body.length }
      return listed(recorder.requests, asked, options)
    },
  },
  {
    method: 'DELETE',
    path: '/outbound',
    summary: 'Forgets one registration of a foreign url, or all of them.',
    query: { url: 'the url or pattern to forget' },
    run: ({ outbound }, _, { query }) => outbound.off(query.get('url') ?? undefined),
  },
  {
    method: 'GET',
    path: '/outbound',
    summary: 'Calls that nothing is registered for, as sentences, and steps of scripts that no call met.',
    run: ({ outbound }) => ({ unhandled: outbound.unhandled, unused: outbound.unused }),
  },
]

function recordedView({ url, method, at, headers, body, handlerRuns, response: answer }: OutboundRequest): unknown {
  return { url, method, at, headers, body: portableString(body), handlerRuns, status: answer?.status }
}
