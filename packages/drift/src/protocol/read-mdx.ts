import { isMap, isScalar, parseDocument } from 'yaml'
import { type Item, oneLine } from './items.js'

// Reads pages in MDX: front matter, headings, fields such as `<ParamField>`, tables, lists and code. What the parts of
// a page describe follows from their heading, their columns and their form.

/** A word of a command: `ARSET`, `JSON.GET`, `BASE64-FP32`. */
const upperWord = /^[A-Z][A-Z0-9]*(?:[._-][A-Z0-9]+)*$/
const commandName = /^[A-Z][A-Z0-9_]*(?:\.[A-Z0-9]+)?(?: [A-Z][A-Z0-9]+)?$/
const headerName = /^(?:Upstash|QStash|X-Upstash)-[A-Za-z0-9*<>{}-]+$/i
const anyHeaderName = /^[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9<>{}*]+)+$/
const errorText =
  /^(?:ERR|WRONGTYPE|NOSCRIPT|NOAUTH|NOPERM|EXECABORT|BUSYGROUP|NOGROUP|BUSY|MISCONF|READONLY|UNKILLABLE|NOTBUSY|INVALIDOBJ)\b/
const request = /^(GET|HEAD|POST|PUT|PATCH|DELETE)\s+(?:https?:\/\/[^/\s]+)?(\/\S*)$/i

/** What a table or a list describes, by the first column or by the heading above. */
type Subject = 'command' | 'option' | 'endpoint' | 'parameter' | 'header' | 'field' | 'status' | 'error'

const subjects: readonly (readonly [RegExp, Subject])[] = [
  [/\bheaders?\b/i, 'header'],
  [/\b(?:status(?:es)?|status code|http code)\b|^codes?$/i, 'status'],
  [/\b(?:errors?|error (?:text|message)s?|messages?)$/i, 'error'],
  [/\bcommands?\b/i, 'command'],
  [/\b(?:endpoints?|requests?|routes?)\b/i, 'endpoint'],
  [/\b(?:options?|flags?|clauses?|modifiers?|arguments?|subcommands?)\b/i, 'option'],
  [/\b(?:(?:query|path|body) )?param(?:eter)?s?\b|^query$/i, 'parameter'],
  [/\b(?:fields?|propert(?:y|ies)|attributes?|response|reply)\b/i, 'field'],
]

/** Returns the items of one page. */
export function readMdx(file: string, text: string): Item[] {
  const page = new Page(file, text)
  page.read()
  return page.items
}

/** An open `<ParamField>` or `<ResponseField>`. */
interface OpenField {
  readonly tag: string
  readonly item: { kind: Item['kind']; name: string; value: string; line: number; owner?: string | undefined }
  readonly path: string
  readonly text: string[]
}

class Page {
  readonly items: Item[] = []
  readonly #lines: readonly string[]
  /** Path without suffix: the name of the page in the names of its texts. */
  readonly #page: string
  #command: string | undefined
  #endpoint: string | undefined
  /** Headings above the current line, by their level. */
  readonly #headings: string[] = []
  readonly #fields: OpenField[] = []
  #prose: string[] = []
  #proseLine = 1

  constructor(
    readonly file: string,
    text: string,
  ) {
    this.#lines = text.split(/\r?\n/)
    this.#page = file.replace(/\.mdx?$/, '')
  }

  read(): void {
    let at = this.#frontMatter()
    this.#proseLine = at + 1
    while (at < this.#lines.length) at = this.#block(at)
    while (this.#fields.length > 0) this.#closeField()
    this.#endProse()
  }

  #add(kind: Item['kind'], name: string, line: number, more: Partial<Item> = {}): void {
    this.items.push({ kind, name, value: '', source: `${this.file}:${line + 1}`, ...more })
  }

  /** The command or endpoint that the page describes, which owns what the page lists. */
  get #owner(): string | undefined {
    return this.#endpoint ?? this.#command
  }

  // ---- front matter -----------------------------------------------------------------------------------------------

  /** Reads the front matter. Returns the index of the first line behind it. */
  #frontMatter(): number {
    if (this.#lines[0]?.trim() !== '---') return 0
    const end = this.#lines.findIndex((line, index) => index > 0 && line.trim() === '---')
    if (end === -1) return 0
    const { contents } = parseDocument(this.#lines.slice(1, end).join('\n'), { logLevel: 'silent' })
    const fields = new Map<string, string>()
    if (isMap(contents)) {
      for (const { key, value } of contents.items) {
        if (isScalar(key) && isScalar(value)) fields.set(String(key.value), String(value.value))
      }
    }
    const lineOf = (name: string): number =>
      Math.max(
        0,
        this.#lines.findIndex((line, index) => index < end && line.startsWith(`${name}:`)),
      )
    const text = fields.get('description') ?? ''
    const api = endpointOf((fields.get('api') ?? fields.get('openapi') ?? '').replace(/^\S+\.(?:ya?ml|json)\s+/, ''))
    const title = fields.get('title')?.trim() ?? ''
    if (api !== undefined) {
      this.#endpoint = api
      this.#add('endpoint', api, lineOf(fields.has('api') ? 'api' : 'openapi'))
      if (text !== '') this.#add('text', api, lineOf('description'), { text: oneLine(text), owner: api })
    } else if (this.#isCommandPage(title)) {
      this.#command = title.toUpperCase()
      this.#add('command', this.#command, lineOf('title'), { text: oneLine(text) })
    } else if (text !== '') this.#add('text', this.#page, lineOf('description'), { text: oneLine(text) })
    return end + 1
  }

  #isCommandPage(title: string): boolean {
    if (!commandName.test(title.toUpperCase())) return false
    const name = this.#page
      .split('/')
      .at(-1)!
      .toUpperCase()
      .replace(/[^A-Z0-9]/g, '')
    const isNamed = name === title.toUpperCase().replace(/[^A-Z0-9]/g, '')
    return /(?:^|\/)commands\//.test(this.#page)
      ? isNamed || commandName.test(title)
      : isNamed && commandName.test(title)
  }

  // ---- blocks -----------------------------------------------------------------------------------------------------

  /** Reads the block that begins in a line. Returns the index of the line behind it. */
  #block(at: number): number {
    const line = this.#lines[at]!
    const fence = /^\s*(```+|~~~+)\s*(.*)$/.exec(line)
    if (fence !== null) return this.#code(at, fence[1]!, fence[2]!)
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line)
    if (heading !== null) {
      this.#heading(heading[1]!.length, heading[2]!, at)
      return at + 1
    }
    if (/^\s*\|.*\|\s*$/.test(line) && /^\s*\|[\s:|-]+\|\s*$/.test(this.#lines[at + 1] ?? '')) return this.#table(at)
    if (/^\s*<\/?(?:ParamField|ResponseField)\b/.test(line)) return this.#tag(at)
    const item = /^\s*[-*+]\s+(.*)$/.exec(line)
    if (item !== null) return this.#listItem(at, item[1]!)
    if (!/^\s*(?:import|export)\s.*['"{]/.test(line)) this.#say(line, at)
    return at + 1
  }

  #heading(level: number, title: string, at: number): void {
    this.#endProse()
    this.#headings.length = level - 1
    this.#headings[level - 1] = plain(title)
    this.#proseLine = at
    const endpoint = endpointOf(plain(title))
    if (endpoint !== undefined) {
      this.#endpoint = endpoint
      this.#add('endpoint', endpoint, at)
    }
    const [, status] = /^(?:HTTP )?([1-5]\d\d)\b/.exec(plain(title)) ?? []
    if (status !== undefined) this.#add('status', this.#owned(status), at, { owner: this.#owner })
  }

  /** Adds a line of prose to the section, or to the field that is open. */
  #say(line: string, at: number): void {
    this.#mentions(line, at)
    const text = plain(line.replace(/<\/?[A-Za-z][^>]*>/g, ' '))
    if (text === '') return
    const field = this.#fields.at(-1)
    if (field !== undefined) field.text.push(text)
    else this.#prose.push(text)
  }

  #endProse(): void {
    const text = oneLine(this.#prose.join(' '))
    this.#prose = []
    if (text === '') return
    const place = this.#headings.filter((one) => one !== undefined).join(' > ')
    this.#add('text', place === '' ? `${this.#page}: introduction` : `${this.#page}: ${place}`, this.#proseLine, {
      text,
      owner: this.#owner,
    })
  }

  /** Adds headers and endpoints that are mentioned in code: `` `Upstash-Delay` ``. */
  #mentions(line: string, at: number): void {
    for (const [, code] of line.matchAll(/`([^`]+)`/g)) {
      const name = code!.split(':')[0]!.trim()
      if (headerName.test(name)) this.#add('header', headerOf(name), at)
      const endpoint = /^[A-Z]+ \/v\d/.test(code!) ? endpointOf(code!) : undefined
      if (endpoint !== undefined) this.#add('endpoint', endpoint, at)
    }
  }

  // ---- code -------------------------------------------------------------------------------------------------------

  #code(at: number, fence: string, info: string): number {
    let end = at + 1
    while (end < this.#lines.length && !this.#lines[end]!.trim().startsWith(fence)) end++
    const code = this.#lines.slice(at + 1, end)
    const [, status] = /\b([1-5]\d\d)\b/.exec(info) ?? []
    if (status !== undefined && this.#endpoint !== undefined)
      this.#add('status', this.#owned(status), at, { owner: this.#owner })
    code.forEach((line, index) => {
      // Headers in an example of curl or fetch.
      for (const [, name] of line.matchAll(/["'`]((?:Upstash|QStash)-[A-Za-z0-9-]+)(?=["'`:])/gi))
        this.#add('header', headerOf(name!), at + 1 + index)
    })
    if (this.#isSyntax(code)) this.#syntax(oneLine(code.join(' ')), at + 1)
    return end + 1
  }

  /** Whether a block is the syntax of the page's command, and not an example. */
  #isSyntax(code: readonly string[]): boolean {
    const [first = ''] = code.map((line) => line.trim()).filter((line) => line !== '')
    if (this.#command === undefined || !startsWithCommand(first, this.#command)) return false
    const isHeaded = /\b(?:syntax|usage|synopsis)\b/i.test(this.#headings.at(-1) ?? '')
    return isHeaded || (this.#headings.length === 0 && /[[\]<>|]|\.\.\.|…|\b[a-z]+\b/.test(first))
  }

  #syntax(syntax: string, at: number): void {
    const command = this.#command!
    this.#add('command', command, at, { value: syntax })
    // Words of the syntax in upper case are options: `LIMIT count` in `[LIMIT count]`, both words of `ON STREAM`.
    for (const words of syntax.slice(command.length).split(/[[\](){}|]|\s{2,}/)) {
      const [option] = optionOf(words.trim())
      if (option !== undefined) this.#option(option, at)
    }
  }

  #option(option: string, at: number, more: Partial<Item> = {}): void {
    if (this.#command !== undefined)
      this.#add('option', `${this.#command} ${option}`, at, { ...more, owner: this.#command })
    else this.#add('option', `${this.#page} ${option}`, at, more)
  }

  // ---- tables and lists ---------------------------------------------------------------------------------------------

  #table(at: number): number {
    const columns = cellsOf(this.#lines[at]!)
    const subject = subjectOf(columns[0] ?? '') ?? subjectOf(this.#headings.at(-1) ?? '')
    let end = at + 2
    for (; end < this.#lines.length && /^\s*\|/.test(this.#lines[end]!); end++) {
      const line = this.#lines[end]!
      const cells = cellsOf(line)
      const [first = '', ...rest] = cells
      if (!this.#entry(first, rest, subject, end)) this.#say(cells.join(' '), end)
      else this.#mentions(rest.join(' '), end)
    }
    return end
  }

  #listItem(at: number, given: string): number {
    let end = at + 1
    // Lines that continue the item.
    while (end < this.#lines.length && /^\s{2,}[^\s\-*+|<`]/.test(this.#lines[end]!)) end++
    const text = oneLine([given, ...this.#lines.slice(at + 1, end)].join(' '))
    const [, code, rest] = /^(?:\*\*)?`([^`]+)`(?:\*\*)?\s*(?:\([^)]*\))?\s*[:–—-]\s*(.*)$/.exec(text) ?? []
    const [, status, meaning] = /^(?:\*\*)?([1-5]\d\d)(?:\*\*)?(?:\s+[A-Z][\w ]*)?\s*[:–—-]\s*(.*)$/.exec(text) ?? []
    const subject = subjectOf(this.#headings.at(-1) ?? '')
    const isEntry =
      (code !== undefined && this.#entry(`\`${code}\``, [rest!], subject, at)) ||
      (status !== undefined && this.#entry(status, [meaning!], 'status', at))
    if (!isEntry) this.#say(text, at)
    return end
  }

  /**
   * Adds what one row of a table or one item of a list describes.
   * @returns whether it describes something; otherwise it is prose
   */
  #entry(first: string, rest: readonly string[], subject: Subject | undefined, at: number): boolean {
    const names = codesIn(first)
    const name = names[0] ?? plain(first)
    const text = oneLine(rest.map(plain).join(' · '))
    const owner = this.#owner
    if (errorText.test(name)) {
      this.#add('text', name, at, { text, owner })
      return true
    }
    if (headerName.test(name) || (subject === 'header' && anyHeaderName.test(name))) {
      for (const one of names.length > 0 ? names : [name]) this.#add('header', headerOf(one), at, { text })
      return true
    }
    const endpoint = endpointOf(name)
    if (endpoint !== undefined) {
      this.#add('endpoint', endpoint, at, { text })
      return true
    }
    switch (subject) {
      case 'status': {
        const statuses = (names.length > 0 ? names : [name]).flatMap((one) => one.match(/\b[1-5]\d\d\b/g) ?? [])
        for (const status of statuses) this.#add('status', this.#owned(status), at, { text, owner })
        return statuses.length > 0
      }
      case 'command': {
        if (!commandName.test(name)) return false
        this.#add('command', name, at, { text })
        return true
      }
      case 'error':
        if (names.length === 0) return false
        this.#add('text', name, at, { text, owner })
        return true
      case 'parameter':
      case 'field':
        // The page of a command lists its arguments under various titles.
        if (names.length === 0) return false
        for (const one of names) {
          if (this.#endpoint === undefined && this.#command !== undefined && subject === 'parameter')
            this.#option(optionOf(one)[0] ?? one, at, { value: optionOf(one)[1], text })
          else if (subject === 'parameter') this.#add('parameter', this.#owned(`?${one}`), at, { text, owner })
          else this.#add('field', this.#owned(one, '.'), at, { text, owner })
        }
        return true
      case 'option':
        if (names.length === 0) return false
        for (const one of names) this.#option(optionOf(one)[0] ?? one, at, { value: optionOf(one)[1], text })
        return true
      default:
        return false
    }
  }

  /** Returns the name with the command, endpoint or page that it belongs to. */
  #owned(name: string, separator = ' '): string {
    return `${this.#owner ?? this.#page}${this.#endpoint === undefined ? separator : ' '}${name}`
  }

  // ---- fields -----------------------------------------------------------------------------------------------------

  /** Reads `<ParamField …>`, `<ResponseField …>` and their ends. */
  #tag(at: number): number {
    const [, closing, tag] = /^\s*<(\/?)(ParamField|ResponseField)\b/.exec(this.#lines[at]!)!
    if (closing === '/') {
      this.#closeField(tag!)
      const rest = this.#lines[at]!.replace(/^\s*<\/\w+>/, '')
      if (rest.trim() !== '') this.#say(rest, at)
      return at + 1
    }
    // The attributes may continue in the next lines.
    let end = at
    let text = this.#lines[at]!.trim()
    while (!endOfTag(text) && end + 1 < this.#lines.length && end - at < 20) text += ` ${this.#lines[++end]!.trim()}`
    const length = endOfTag(text) ?? text.length
    const attributes = attributesIn(text.slice(0, length))
    this.#openField(tag!, attributes, at)
    let rest = text.slice(length)
    if (/\/>$/.test(text.slice(0, length))) this.#closeField(tag!)
    else {
      const close = rest.indexOf(`</${tag}>`)
      if (close !== -1) {
        this.#say(rest.slice(0, close), at)
        this.#closeField(tag!)
        rest = rest.slice(close + tag!.length + 3)
      }
    }
    if (rest.trim() !== '') this.#say(rest, at)
    return end + 1
  }

  #openField(tag: string, attributes: ReadonlyMap<string, string>, line: number): void {
    const outer = this.#fields.at(-1)
    const place = ['query', 'path', 'body', 'header', 'name'].find((one) => attributes.has(one))
    const own = place === undefined ? '' : attributes.get(place)!
    const path = [outer?.path ?? '', own].filter((part) => part !== '').join('.')
    const facts = [
      attributes.get('type') ?? '',
      ['', 'true'].includes(attributes.get('required') ?? 'no') ? 'required' : '',
      attributes.has('deprecated') ? 'deprecated' : '',
      ...['default', 'initialValue'].flatMap((one) => (attributes.has(one) ? [`default ${attributes.get(one)}`] : [])),
    ]
    const value = facts.filter((fact) => fact !== '').join(', ')
    const owner = this.#owner
    const item = { value, line, owner }
    const isHeader = place === 'header' || headerName.test(own)
    if (tag === 'ResponseField') this.#push(tag, path, { ...item, kind: 'field', name: this.#owned(path, '.') })
    else if (isHeader) {
      const name = this.#endpoint === undefined ? headerOf(own) : `${this.#endpoint} ${headerOf(own)}`
      this.#push(tag, path, { ...item, kind: 'header', name })
    } else if (this.#command !== undefined && this.#endpoint === undefined)
      this.#push(tag, path, { ...item, kind: 'option', name: `${this.#command} ${path}` })
    else {
      const mark = place === 'query' ? '?' : `${place ?? ''} `
      this.#push(tag, path, { ...item, kind: 'parameter', name: this.#owned(`${mark}${path}`) })
    }
  }

  #push(tag: string, path: string, item: OpenField['item']): void {
    this.#fields.push({ tag, path, item, text: [] })
  }

  #closeField(tag?: string): void {
    if (tag !== undefined && !this.#fields.some((one) => one.tag === tag)) return
    let field: OpenField | undefined
    do {
      field = this.#fields.pop()
      if (field === undefined) return
      const { kind, name, line, value, owner } = field.item
      // A field without a name describes the whole response.
      this.#add(kind, name.trim(), line, { value, text: oneLine(field.text.join(' ')), owner })
    } while (tag !== undefined && field.tag !== tag)
  }
}

/** Returns `GET /v2/keys` for a method with a path or a URL. */
function endpointOf(text: string): string | undefined {
  const [, method, path] = request.exec(text.trim()) ?? []
  if (method === undefined) return undefined
  return `${method.toUpperCase()} ${path!.replace(/\?.*$/, '').replace(/\{[^}]*\}|:\w+|<[^>]*>/g, '{}')}`
}

/** Splits an option into its words in upper case and the rest: `LIMIT count` into `LIMIT` and `count`. */
function optionOf(text: string): [option: string | undefined, rest: string] {
  const words = text.replace(/^[[(]|[\])]$/g, '').split(/\s+/)
  const end = words.findIndex((word) => !upperWord.test(word))
  const count = end === -1 ? words.length : end
  return [count === 0 ? undefined : words.slice(0, count).join(' '), words.slice(count).join(' ')]
}

function startsWithCommand(line: string, command: string): boolean {
  const upper = line.toUpperCase()
  return upper === command || upper.startsWith(`${command} `)
}

function subjectOf(title: string): Subject | undefined {
  return subjects.find(([pattern]) => pattern.test(plain(title)))?.[1]
}

function headerOf(name: string): string {
  return name.replace(/[<{].*$|\*$/, '*').toLowerCase()
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\||\|$/g, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** Returns the texts in backticks. */
function codesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!.trim())
}

/** Removes the marks of Markdown. */
function plain(text: string): string {
  return oneLine(
    text
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/\*\*|__|`/g, '')
      .replace(/\{\/\*.*?\*\/\}/g, ''),
  )
}

/** Returns the index behind the `>` that ends the first tag of a text. */
function endOfTag(text: string): number | undefined {
  let quote = ''
  let braces = 0
  for (const [index, char] of [...text].entries()) {
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === '{') braces++
    else if (char === '}') braces--
    else if (char === '>' && braces <= 0) return [...text].slice(0, index + 1).join('').length
  }
  return undefined
}

/** Reads attributes: `name="x"`, `default={3}`, `required`. */
function attributesIn(tag: string): Map<string, string> {
  const inner = tag.replace(/^<\w+/, '').replace(/\/?>$/, '')
  const found = new Map<string, string>()
  for (const [, name, double, single, braced] of inner.matchAll(
    /([A-Za-z][\w-]*)(?:=(?:"([^"]*)"|'([^']*)'|\{([^}]*)\}))?/g,
  )) {
    found.set(name!, (double ?? single ?? braced ?? '').trim())
  }
  return found
}
