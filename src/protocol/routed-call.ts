import type { Bytes } from '../kernel/bytes.js'
import { headerOf } from '../kernel/http.js'
import type { Location } from './address.js'
import type { Call, Endpoint, ServiceCall } from './service.js'
import { neutralManagementPath, settingsOf, type Vocabulary } from './vocabulary.js'

/** A call that was located; the router adds what the pattern of its endpoint says. */
export class RoutedCall implements ServiceCall {
  /** Written anew by the router where the case of its fixed parts does not matter. */
  path: string
  readonly query: string
  /** Set by the router; `undefined` when no endpoint takes the method and path. */
  endpoint: Endpoint<unknown> | undefined
  params: Readonly<Record<string, string>> = {}
  /** Segments of the path before those that its pattern does not know. */
  segmentsBeforeRest = 0
  user: unknown = undefined
  #settings: ServiceCall['settings'] | undefined

  constructor(
    private readonly call: Call,
    readonly body: Bytes,
    private readonly location: Location,
    private readonly vocabulary: Vocabulary,
    readonly cause: number,
  ) {
    const { service, path, query } = location
    this.path = service === 'stats' ? neutralManagementPath(path, vocabulary) : path
    this.query = query
  }

  /** The same call without its token. */
  withoutToken(): RoutedCall {
    const headers = this.call.headers.filter(([name]) => name.toLowerCase() !== 'authorization')
    const call: Call = { method: this.call.method, url: this.call.url, headers, body: () => this.body }
    const location = { ...this.location, query: '' }
    const copy = new RoutedCall(call, this.body, location, this.vocabulary, this.cause)
    copy.path = this.path
    return copy
  }

  get rest(): string {
    return this.path
      .split('/')
      .slice(this.segmentsBeforeRest + 1)
      .join('/')
  }

  get service(): Location['service'] {
    return this.location.service
  }

  get url(): string {
    return this.call.url
  }

  get method(): string {
    return this.call.method
  }

  get region(): string | undefined {
    return this.location.region
  }

  get base(): string {
    return this.location.base
  }

  get headers(): Call['headers'] {
    return this.call.headers
  }

  get signal(): AbortSignal | undefined {
    return this.call.signal
  }

  get settings(): ServiceCall['settings'] {
    this.#settings ??= settingsOf(this.call.headers, this.vocabulary)
    return this.#settings
  }

  header(name: string): string | undefined {
    return headerOf(this.call.headers, name)
  }
}
