// The parts of a sandbox that evaluate fault rules, for the bundles of `bundled.ts`. There they replace the originals,
// and `FAULT_POINTS` of the bundle determines whether they get the rules.
import { createGateway as gateway } from '../src/protocol/gateway.js'
import { QueueEngine as Original, type QueueOptions } from '../src/queue/queue-engine.js'
import { storeService as service } from '../src/store/rest/store-endpoints.js'

declare const FAULT_POINTS: boolean

function given<T extends { readonly faults?: unknown }>(options: T): T {
  return FAULT_POINTS ? options : { ...options, faults: undefined }
}

export const createGateway: typeof gateway = (options) => gateway(given(options))

export const storeService: typeof service = (journal, clock, faults) =>
  service(journal, clock, FAULT_POINTS ? faults : undefined)

export class QueueEngine extends Original {
  constructor(options: QueueOptions) {
    super(given(options))
  }
}
