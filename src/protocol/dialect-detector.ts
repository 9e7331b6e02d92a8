import type { HeaderList } from '../kernel/http.js'
import type { ServiceName } from '../kernel/traffic-log.js'
import { type Dialect, dialectsOf, otherDialects, type SettingLists, type Settings } from './dialect.js'

/** Dialect of a request or of a list of headers, and the service's own headers and parameters in it. */
export interface DetectedDialect {
  /** Dialect for the response. It is the neutral dialect if the request or list contains no name of any dialect. */
  readonly dialect: Dialect
  /**
   * Whether the request or list contains no name of any dialect. Always false if the sandbox accepts only one dialect.
   */
  readonly isUnmarked: boolean
  readonly settings: Settings
  /** Values of each header to forward that occurs several times in the request, by neutral name. */
  readonly lists?: SettingLists | undefined
  /**
   * Note for the developer who sent the request. It reports names of two dialects in one request, and names of a
   * dialect that the sandbox does not accept.
   */
  readonly note?: string | undefined
}

/** Parts of a request that can contain names of a dialect. */
export interface DialectInput {
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  readonly query: string
  readonly service: ServiceName
}

interface DialectPrefix {
  readonly dialect: Dialect
  readonly prefix: string
  /**
   * Character code of the first letter of the prefix, in lower case. A quick comparison with it excludes most header
   * names.
   */
  readonly initial: number
}

/** Names of one dialect that one request contains. */
interface DialectMatch {
  readonly dialect: Dialect
  /** One of these names as an example for messages, as received. */
  readonly word: string
  readonly settings: Map<string, string>
  lists?: Map<string, string[]>
}

const caseBit = 0x20
const none: Settings = new Map()
/**
 * Matches names of headers to forward, such as `forward-x-id`. If such a header occurs several times, its values stay
 * separate. The values of all other settings are joined.
 */
const toForward = /^(?:(?:failure-)?callback-)?forward-/
/**
 * Matches `Service-Worker` without the prefix `Service-`. Browsers send this header, so it is not a header of the
 * service.
 */
const browsers = /^worker(?:-|$)/

function add(found: DialectMatch, setting: string, value: string): void {
  const { settings } = found
  const before = settings.get(setting)
  settings.set(setting, before === undefined ? value : `${before}, ${value}`)
  if (before === undefined || !toForward.test(setting)) return
  found.lists ??= new Map()
  const list = found.lists.get(setting)
  if (list === undefined) found.lists.set(setting, [before, value])
  else list.push(value)
}

/** Detects the dialect of requests. A sandbox has one detector, which reports each kind of problem once. */
export class DialectDetector {
  readonly #own: readonly Dialect[]
  readonly #tongues: readonly DialectPrefix[]
  /** Matches a query that may contain a name of a dialect. */
  readonly #inQuery: RegExp
  readonly #warn: (sentence: string) => void
  readonly #warned = new Set<string>()
  /** Result for all requests and lists without a name of any dialect. */
  readonly #unmarked: DetectedDialect

  constructor(
    readonly of: Dialect,
    warn: (sentence: string) => void = () => {},
  ) {
    this.#own = dialectsOf(of)
    const heard = [...this.#own, ...otherDialects(of)]
    this.#tongues = heard.map((one) => {
      const prefix = one.headerPrefix.toLowerCase()
      return { dialect: one, prefix, initial: prefix.charCodeAt(0) | caseBit }
    })
    const words = heard.flatMap(({ headerPrefix, queueTokenQuery }) => [headerPrefix, queueTokenQuery])
    this.#inQuery = new RegExp(['%', ...words.map((word) => word.replace(/[^\w-]/g, '\\$&'))].join('|'), 'i')
    this.#warn = warn
    this.#unmarked = { dialect: this.#own[0]!, isUnmarked: this.#own.length > 1, settings: none }
  }

  /**
   * Detects the dialect of a list of headers: the headers of a request, or headers in the body of a request. If a name
   * occurs several times, its values are joined with `, `, as in HTTP.
   */
  headers(headers: HeaderList): DetectedDialect {
    return this.#speech(this.#inHeaders(headers))
  }

  /** @param path path below the base URL, as received */
  request(request: DialectInput, path: string): DetectedDialect {
    const { headers, query, service } = request
    let found = this.#inHeaders(headers)
    if (query !== '' && service === 'queue' && this.#inQuery.test(query)) found = this.#withQuery(query, found)
    if (service === 'stats') found = this.#withPath(path, found)
    return this.#speech(found, request)
  }

  /**
   * Returns the names of each dialect that the headers contain, by the position of the dialect in `#tongues`. Most
   * requests to some services contain no such names. The result is then `undefined`, so that no array is created.
   */
  #inHeaders(headers: HeaderList): (DialectMatch | undefined)[] | undefined {
    let found: (DialectMatch | undefined)[] | undefined
    const tongues = this.#tongues
    for (const [name, value] of headers) {
      const initial = name.charCodeAt(0) | caseBit
      for (let place = 0; place < tongues.length; place++) {
        const { initial: first, prefix, dialect } = tongues[place]!
        if (initial !== first) continue
        const lower = name.toLowerCase()
        if (!lower.startsWith(prefix)) continue
        const setting = lower.slice(prefix.length)
        if (browsers.test(setting)) continue
        found ??= []
        const words: DialectMatch = found[place] ?? { dialect, word: name, settings: new Map() }
        found[place] = words
        add(words, setting, value)
      }
    }
    return found
  }

  #withQuery(query: string, found: (DialectMatch | undefined)[] = []): (DialectMatch | undefined)[] {
    for (const name of new URLSearchParams(query).keys()) {
      const lower = name.toLowerCase()
      this.#tongues.forEach(({ dialect, prefix }, place) => {
        if (!lower.startsWith(prefix) && name !== dialect.queueTokenQuery) return
        found[place] ??= { dialect, word: `${name}=…`, settings: new Map() }
      })
    }
    return found
  }

  #withPath(path: string, found: (DialectMatch | undefined)[] | undefined): (DialectMatch | undefined)[] | undefined {
    const segment = path.split('/')[2]
    const place = this.#tongues.findIndex(({ dialect }) => dialect.managementQueueSegment === segment)
    if (place < 0) return found
    found ??= []
    const { dialect } = this.#tongues[place]!
    found[place] ??= { dialect, word: `/v2/${segment}`, settings: new Map() }
    return found
  }

  #speech(found: (DialectMatch | undefined)[] | undefined, request?: DialectInput): DetectedDialect {
    if (found === undefined) return this.#unmarked
    const own = this.#own
    const alone = own.length === 1
    const [first, second] = alone ? [found[0], undefined] : [found[0], found[1]]
    const counts = second ?? first
    return {
      dialect: counts?.dialect ?? own[0]!,
      isUnmarked: !alone && counts === undefined,
      settings: counts?.settings ?? none,
      lists: counts?.lists,
      note: first && second ? mixed(first, second) : this.#foreign(found.slice(own.length), request),
    }
  }

  /**
   * Returns a note about a name of a dialect that the sandbox does not accept. There is one note per dialect and kind
   * of name: header, query parameter or path.
   */
  #foreign(found: readonly (DialectMatch | undefined)[], request: DialectInput | undefined): string | undefined {
    const stranger = found.find((one) => one !== undefined)
    if (stranger === undefined || request === undefined) return undefined
    const { dialect, word } = stranger
    const [mine, other] = [this.#own[0]!.name, dialect.name]
    const what = `${word} is a name of dialect '${other}'; this sandbox accepts only names of '${mine}', so this name has no effect.`
    const kind = `${other} ${word.startsWith('/') ? 'path' : word.endsWith('=…') ? 'query' : 'header'}`
    if (!this.#warned.has(kind)) {
      this.#warned.add(kind)
      const { method, url } = request
      this.#warn(
        `${method} ${url.replace(/\?.*$/s, '')}: ${what} Set the option dialect: '${other}', or omit it, because the default 'auto' accepts both.`,
      )
    }
    return what
  }
}

function mixed(neutral: DialectMatch, vendor: DialectMatch): string {
  const { headerPrefix } = vendor.dialect
  return `it has names of two dialects, ${vendor.word} and ${neutral.word}. Names with ${headerPrefix} apply. The other names have no effect, because they are treated as your own headers and parameters.`
}
