import type { HeaderList } from '../kernel/http.js'
import type { ServiceName } from '../kernel/traffic-log.js'
import { type Dialect, dialectsOf, otherDialects, type SettingLists, type Settings } from './dialect.js'

/** What a request, or a list of headers, says in the service's own words. */
export interface DetectedDialect {
  /** In which it is answered: its own, or the neutral one where it has not a single word. */
  readonly dialect: Dialect
  /** It has not a single word; never where only one dialect counts. */
  readonly isUnmarked: boolean
  readonly settings: Settings
  /** Of the headers to forward those that came several times, value by value. */
  readonly lists?: SettingLists | undefined
  /** What its author should know: words of two dialects, or of one that means nothing here. */
  readonly note?: string | undefined
}

/** Where words may stand. */
export interface DialectInput {
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  /** Below the base address, as it arrived. */
  readonly path: string
  /** Without `?`. */
  readonly query: string
  readonly service: ServiceName
}

interface DialectPrefix {
  readonly dialect: Dialect
  readonly prefix: string
  /** Lower-case code of the prefix's first letter, which tells most names apart. */
  readonly initial: number
}

/** Words of one dialect in one request. */
interface DialectMatch {
  readonly dialect: Dialect
  /** One of them, as it came. */
  readonly word: string
  readonly settings: Map<string, string>
  lists?: Map<string, string[]>
}

const caseBit = 0x20
const none: Settings = new Map()
/** What a destination gets stays as it came; the options that the service reads are joined. */
const toForward = /^(?:(?:failure-)?callback-)?forward-/
/** `Service-Worker` is a browser's. */
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

/** Finds out in whose words a request speaks. One for a sandbox: what it warns of, it warns of once. */
export class DialectDetector {
  readonly #own: readonly Dialect[]
  readonly #tongues: readonly DialectPrefix[]
  /** Whether a query may have a word in it. */
  readonly #inQuery: RegExp
  readonly #warn: (sentence: string) => void
  readonly #warned = new Set<string>()

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
  }

  /** The headers of a request, or those of an object in its body. A name that comes twice is joined with `, `, as HTTP has it. */
  headers(headers: HeaderList): DetectedDialect {
    return this.#speech(this.#inHeaders(headers))
  }

  request(request: DialectInput): DetectedDialect {
    const { headers, query, path, service } = request
    let found = this.#inHeaders(headers)
    if (query !== '' && service === 'queue' && this.#inQuery.test(query)) found = this.#withQuery(query, found)
    if (service === 'stats') found = this.#withPath(path, found)
    return this.#speech(found, request)
  }

  /** By the place of the dialect; `undefined` where there is no word at all, as in most requests of some services. */
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
    const own = this.#own
    const alone = own.length === 1
    if (found === undefined) return { dialect: own[0]!, isUnmarked: !alone, settings: none }
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

  /** A word that means nothing here: told once for each dialect and place. */
  #foreign(found: readonly (DialectMatch | undefined)[], request: DialectInput | undefined): string | undefined {
    const stranger = found.find((one) => one !== undefined)
    if (stranger === undefined || request === undefined) return undefined
    const { dialect, word } = stranger
    const [mine, other] = [this.#own[0]!.name, dialect.name]
    const what = `${word} is a word of dialect '${other}'; this sandbox speaks only '${mine}', where it means nothing.`
    const kind = `${other} ${word.startsWith('/') ? 'path' : word.endsWith('=…') ? 'query' : 'header'}`
    if (!this.#warned.has(kind)) {
      this.#warned.add(kind)
      const { method, url } = request
      this.#warn(
        `${method} ${url.replace(/\?.*$/s, '')}: ${what} Set the option dialect: '${other}', or leave it out: 'auto', the default, understands both.`,
      )
    }
    return what
  }
}

function mixed(neutral: DialectMatch, vendor: DialectMatch): string {
  const { headerPrefix } = vendor.dialect
  return `it has words of two dialects, ${vendor.word} and ${neutral.word}: those with ${headerPrefix} count, the others are plain headers and parameters of the user.`
}
