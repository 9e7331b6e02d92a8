import type { FaultFacts } from '../faults/fault.js'
import type { Bytes } from '../kernel/bytes.js'
import type { RoutedCall } from './call.js'
import type { Service } from './service.js'

/** What rules may ask about a request; what only the service and the endpoint know is found out when a rule asks. */
export class RequestFacts implements FaultFacts {
  readonly #call: RoutedCall
  readonly #service: Service
  #own: FaultFacts | undefined

  constructor(call: RoutedCall, service: Service) {
    this.#call = call
    this.#service = service
  }

  get #more(): FaultFacts {
    if (this.#own === undefined) {
      const [call, { faults, state }] = [this.#call, this.#service]
      this.#own = { ...faults?.facts?.(call, state), ...call.endpoint?.facts?.(call, state) }
    }
    return this.#own
  }

  get api(): 'store' | 'queue' | 'stats' {
    return this.#call.service
  }

  get endpoint(): string {
    return this.#call.path
  }

  get method(): string {
    return this.#call.method
  }

  get url(): string {
    return this.#call.url
  }

  get region(): string | undefined {
    return this.#call.region
  }

  get destination(): string | undefined {
    return this.#more.destination
  }

  get commands(): readonly string[] | undefined {
    return this.#more.commands
  }

  get keys(): readonly Bytes[] | undefined {
    return this.#more.keys
  }

  get urlGroup(): string | undefined {
    return this.#more.urlGroup
  }

  get queue(): string | undefined {
    return this.#more.queue
  }

  get labels(): readonly string[] | undefined {
    return this.#more.labels
  }

  get messageId(): string | undefined {
    return this.#more.messageId
  }

  get flowControlKey(): string | undefined {
    return this.#more.flowControlKey
  }

  get scheduleId(): string | undefined {
    return this.#more.scheduleId
  }

  get workflow(): string | undefined {
    return this.#more.workflow
  }

  get step(): string | undefined {
    return this.#more.step
  }

  get stepType(): string | undefined {
    return this.#more.stepType
  }

  get runId(): string | undefined {
    return this.#more.runId
  }

  header(name: string): string | undefined {
    return this.#call.header(name)
  }
}
