import { isMap, isScalar, parseDocument } from 'yaml'
import { keywordsOf, parseSyntax, sortedChoices } from './command-syntax.js'
import { type Item, oneLine } from './items.js'

// Reads pages in MDX. Front matter, fields such as `<ParamField>`, tables, lists, headings and code become items. What a
// row of a table describes follows from the title of its column. Prose becomes no item, except for the names and error
// texts in it.

const commandName = /^[A-Z][A-Z0-9_]*(?:\.[A-Z0-9]+)?(?: [A-Z][A-Z0-9]+)?$/
const ownHeader = /^(?:X-)?(?:Upstash|QStash)-[A-Za-z0-9*<>{}-]+$/i
const anyHeader = /^[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9<>{}*]+)+$/
const errorText = /^-?(?:ERR|WRONGTYPE|BUSY\w*|EXECABORT|INVALIDOBJ|MISCONF|NO[A-Z]+|READONLY|UNKILLABLE)\s/
const request = /^(GET|HEAD|POST|PUT|PATCH|DELETE)\s+(?:https?:\/\/[^/\s]+)?(\/\S*)$/i

/** Titles of columns with facts about what the row describes. */
const factColumn = /^(?:types?|default(?: value)?|required|values?)$/i
/** An error in an example of a response. */
const errorField = /"(?:error|message|detail)"\s*:\s*"([^"\\]+)"/g

/** What the rows of a table describe. */
type Subject = 'command' | 'option' | 'endpoint' | 'parameter' | 'header' | 'field' | 'status' | 'error'

const subjects: readonly (readonly [RegExp, Subject])[] = [
  [/\bheaders?\b/i, 'header'],
  [/\bstatus(?:es)?\b|\bhttp code\b|^codes?$/i, 'status'],
  [/\berrors?\b|^messages?$/i, 'error'],
  [/\bcommands?\b/i, 'command'],
  [/\b(?:endpoints?|requests?|routes?)\b/i, 'endpoint'],
  [/\b(?:options?|flags?|clauses?|modifiers?|arguments?)\b/i, 'option'],
  [/\bparam(?:eter)?s?\b|^query$/i, 'parameter'],
  [/\b(?:fields?|propert(?:y|ies)|attributes?)\b/i, 'field'],
]

/** Returns the items of one page. */
export function readMdx(file: string, text: string): Item[] {
  const page = new Page(file, text)
  page.read()
  return page.items
}

class Page {
  readonly items: Item[] = []
  readonly #lines: readonly string[]
  /** Path without suffix. It is part of the names of what belongs to no command or endpoint. */
  readonly #page: string
  #command: string | undefined
  #endpoint: string | undefined
  #heading = ''
  /** Names of the fields that are open, from the outermost to the innermost. */
  readonly #fields: { readonly tag: string; readonly name: string }[] = []

  constructor(
    readonly file: string,
    text: string,
  ) {
    this.#lines = withoutComments(text.split(/\r?\n/))
    this.#page = file.replace(/\.mdx?$/, '')
  }

  read(): void {
    let at = this.#frontMatter()
    while (at < this.#lines.length) at = this.#block(at)
  }

  #add(kind: Item['kind'], name: string, line: number, value = ''): void {
    const owner = this.#owner
    this.items.push({ kind, name, value, source: `${this.file}:${line + 1}`, ...(owner !== name && { owner }) })
  }

  /** The command or endpoint that the page describes. */
  get #owner(): string | undefined {
    return this.#endpoint ?? this.#command
  }

  /** Returns a name with what it belongs to. */
  #owned(name: string): string {
    return `${this.#owner ?? this.#page} ${name}`
  }

  // ---- front matter -----------------------------------------------------------------------------------------------

  /** Reads the front matter. Returns the index of the first line behind it. */
  #frontMatter(): number {
    if (this.#lines[0]?.trim() !== '---') return 0
    const end = this.#lines.findIndex((line, index) => index > 0 && line.trim() === '---')
    if (end === -1) return 0
    const { contents } = parseDocument(this.#lines.slice(1, end).join('\n'), { logLevel: 'silent' })
    const fields = new Map<string, string>()
    for (const { key, value } of isMap(contents) ? contents.items : []) {
      if (isScalar(key) && isScalar(value)) fields.set(String(key.value), String(value.value))
    }
    const title = fields.get('title')?.trim() ?? ''
    const api = fields.get('api') ?? fields.get('openapi') ?? ''
    // `openapi` may begin with the name of a file.
    const endpoint = endpointOf(api.replace(/^\S+\.(?:ya?ml|json)\s+/, ''))
    const lineOf = (pattern: RegExp): number =>
      Math.max(
        0,
        this.#lines.findIndex((line) => pattern.test(line)),
      )
    if (endpoint !== undefined) {
      this.#endpoint = endpoint
      this.#add('endpoint', endpoint, lineOf(/^(?:api|openapi):/))
    } else if (this.#isCommand(title)) {
      this.#command = title.toUpperCase()
      this.#add('command', this.#command, lineOf(/^title:/))
    }
    return end + 1
  }

  /** Whether the page is in a folder of commands, and its title is a command: in upper case, or as the file's name. */
  #isCommand(title: string): boolean {
    if (!/(?:^|\/)commands\//.test(this.#page) || /^(?:overview|introduction|index)$/i.test(title)) return false
    const letters = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9]/g, '')
    const isNamed = letters(this.#page.split('/').at(-1)!) === letters(title)
    return commandName.test(isNamed ? title.toUpperCase() : title)
  }

  // ---- blocks -----------------------------------------------------------------------------------------------------

  /** Reads the block that begins in a line. Returns the index of the line behind it. */
  #block(at: number): number {
    const line = this.#lines[at]!
    const [, fence, info] = /^\s*(```+|~~~+)(.*)$/.exec(line) ?? []
    if (fence !== undefined) return this.#code(at, fence, info!)
    const [, heading] = /^\s{0,3}#{1,6}\s+(.*?)\s*#*$/.exec(line) ?? []
    if (heading !== undefined) this.#title(plain(heading), at)
    const next = this.#lines[at + 1] ?? ''
    if (isRow(line) && isRow(next) && /^[\s|:-]+$/.test(next)) return this.#table(at)
    if (/^\s*<\/?(?:ParamField|ResponseField)\b/.test(line)) return this.#tag(at)
    const [, item] = /^\s*(?:[-*+]|\d+\.)\s+(.*)$/.exec(line) ?? []
    if (item !== undefined) this.#listItem(item, at)
    this.#mentions(line, at)
    return at + 1
  }

  #title(title: string, at: number): void {
    this.#heading = title
    const endpoint = endpointOf(title)
    if (endpoint !== undefined) {
      this.#endpoint = endpoint
      this.#add('endpoint', endpoint, at)
    }
    const [, status] = /^(?:HTTP )?([1-5]\d\d)\b/.exec(title) ?? []
    if (status !== undefined) this.#add('status', this.#owned(status), at)
  }

  /** Adds the headers, endpoints and error texts that a line mentions as code: `` `Upstash-Delay` ``. */
  #mentions(line: string, at: number): void {
    for (const code of codesIn(line)) {
      const name = code.split(':')[0]!.trim()
      if (ownHeader.test(name)) this.#add('header', headerOf(name), at)
      if (errorText.test(code)) this.#add('text', code, at)
      const endpoint = /^[A-Z]+ \/v\d/.test(code) ? endpointOf(code) : undefined
      if (endpoint !== undefined) this.#add('endpoint', endpoint, at)
    }
  }

  #code(at: number, fence: string, info: string): number {
    let end = at + 1
    while (end < this.#lines.length && !this.#lines[end]!.trim().startsWith(fence)) end++
    const code = this.#lines.slice(at + 1, end)
    const [status] = /\b[1-5]\d\d\b/.exec(info) ?? []
    if (status !== undefined && this.#endpoint !== undefined) this.#add('status', this.#owned(status), at)
    code.forEach((line, index) => {
      if (errorText.test(line.trim())) this.#add('text', line.trim(), at + 1 + index)
      if (/^[45]/.test(status ?? '')) {
        for (const [, text] of line.matchAll(errorField)) this.#add('text', oneLine(text!), at + 1 + index)
      }
      // Headers of requests with curl or fetch.
      for (const [, name] of line.matchAll(/["'`]((?:Upstash|QStash)-[A-Za-z0-9-]+)(?=["'`:])/gi))
        this.#add('header', headerOf(name!), at + 1 + index)
    })
    this.#syntax(oneLine(code.join(' ')), at + 1)
    return end + 1
  }

  /** Reads the syntax of the page's command. Other code is an example. */
  #syntax(code: string, at: number): void {
    const command = this.#command
    if (command === undefined || !`${code.toUpperCase()} `.startsWith(`${command} `)) return
    const isHeaded = /\b(?:syntax|usage|synopsis)\b/i.test(this.#heading)
    if (!isHeaded && (this.#heading !== '' || !/[[<|]|\.\.\.|…/.test(code))) return
    const { positional, options } = parseSyntax(code.slice(command.length))
    this.#add('command', command, at, positional)
    for (const [option, values] of options) this.#add('option', this.#owned(option), at, values)
  }

  // ---- tables and lists ---------------------------------------------------------------------------------------------

  #table(at: number): number {
    const head = cellsOf(this.#lines[at]!)
    const titles = head.map(subjectOf)
    const column = Math.max(
      0,
      titles.findIndex((title) => title !== undefined),
    )
    const subject = titles[column] ?? subjectOf(this.#heading)
    let end = at + 2
    for (; end < this.#lines.length && isRow(this.#lines[end]!); end++) {
      const cells = cellsOf(this.#lines[end]!)
      const facts = cells.map(plain).filter((cell, index) => cell !== '' && factColumn.test(plain(head[index] ?? '')))
      this.#entry(cells[column] ?? '', subject, end, facts.join(', '))
      this.#mentions(this.#lines[end]!, end)
    }
    return end
  }

  /** Reads an item of a list that begins with what it describes: `` - `LIMIT n`: … ``, `- 404: …`. */
  #listItem(text: string, at: number): void {
    const [first] = /^(?:\*\*)?(?:`[^`]+`|[1-5]\d\d\b)/.exec(text) ?? []
    if (first === undefined) {
      // `**WITHVALUES**: …`. Other bold words are prose.
      const [, bold] = /^\*\*([A-Z][A-Z0-9_-]+)\*\*/.exec(text) ?? []
      if (bold !== undefined && this.#command !== undefined) this.#entry(`\`${bold}\``, subjectOf(this.#heading), at)
      return
    }
    const isStatus = /^\W*[1-5]\d\d\W*$/.test(first)
    this.#entry(first, isStatus ? 'status' : subjectOf(this.#heading), at)
  }

  /**
   * Adds what a row of a table or an item of a list describes.
   * @param facts what the other columns say about it
   */
  #entry(cell: string, subject: Subject | undefined, at: number, facts = ''): void {
    const codes = codesIn(cell)
    // Overviews list commands in one cell: `GET - GETDEL - GETEX`.
    const words = subject === 'command' ? plain(cell).split(/ [-–] |, ?/) : [plain(cell)]
    for (const name of codes.length > 0 ? codes : words) {
      const endpoint = endpointOf(name)
      if (endpoint !== undefined) this.#add('endpoint', endpoint, at)
      else if (ownHeader.test(name) || (subject === 'header' && anyHeader.test(name)))
        this.#add('header', headerOf(name), at)
      else if (subject === 'status') {
        for (const [status] of name.matchAll(/\b[1-5]\d\d\b/g)) this.#add('status', this.#owned(status), at)
      } else if (subject === 'command') {
        if (commandName.test(name)) this.#add('command', name, at)
      } else if (codes.length === 0) continue
      else if (subject === 'error') this.#add('text', name, at)
      else if (subject === 'field') this.#add('field', this.#owned(name), at, facts)
      else if (subject === 'option' || subject === 'parameter') this.#argument(name, subject, at, facts)
    }
  }

  /** Adds an option of a command or a parameter of an endpoint. Pages use both words for either. */
  #argument(name: string, subject: 'option' | 'parameter', at: number, facts: string): void {
    if (this.#endpoint !== undefined) this.#add('parameter', this.#owned(name), at, facts)
    else if (this.#command === undefined) this.#add(subject, this.#owned(name), at, facts)
    else {
      const { keywords, rest } = keywordsOf(name)
      if (keywords !== '') this.#add('option', this.#owned(keywords), at, choicesOf(rest) || facts)
    }
  }

  // ---- fields -----------------------------------------------------------------------------------------------------

  /** Reads `<ParamField …>`, `<ResponseField …>` and their ends. */
  #tag(at: number): number {
    const [, closing, tag] = /^\s*<(\/?)(ParamField|ResponseField)\b/.exec(this.#lines[at]!)!
    if (closing === '/') {
      this.#close(tag!)
      return at + 1
    }
    // Attributes may continue in the next lines.
    let end = at
    let text = this.#lines[at]!.trim()
    while (endOfTag(text) === undefined && end + 1 < this.#lines.length && end - at < 30)
      text += ` ${this.#lines[++end]!.trim()}`
    const length = endOfTag(text) ?? text.length
    const opening = text.slice(0, length)
    this.#open(tag!, attributesIn(opening), at)
    const rest = text.slice(length)
    this.#mentions(rest, end)
    if (opening.endsWith('/>') || rest.includes(`</${tag}>`)) this.#close(tag!)
    return end + 1
  }

  #open(tag: string, attributes: ReadonlyMap<string, string>, at: number): void {
    const place = ['query', 'path', 'body', 'header', 'name'].find((one) => attributes.has(one))
    const own = place === undefined ? '' : attributes.get(place)!
    const isNested = this.#fields.some((field) => field.name !== '')
    const name = [this.#fields.at(-1)?.name ?? '', own].filter((part) => part !== '').join('.')
    this.#fields.push({ tag, name })
    // A field without a name describes a whole response.
    if (own === '') return
    const value = factsOf(attributes)
    if (tag === 'ResponseField') this.#add('field', this.#owned(name), at, value)
    else if (place === 'header' || ownHeader.test(own))
      this.#add('header', this.#endpoint === undefined ? headerOf(own) : this.#owned(headerOf(own)), at, value)
    else if (this.#endpoint !== undefined || this.#command === undefined)
      this.#add('parameter', this.#owned(name), at, value)
    else if (keywordsOf(own).keywords !== '') this.#add('option', this.#owned(keywordsOf(own).keywords), at, value)
    // Pages about an SDK nest its options in an object. An argument without a keyword belongs to the command.
    else if (isNested) this.#add('option', this.#owned(own.toUpperCase()), at, value)
    else this.#add('command', this.#command, at, `${own}: ${value}`)
  }

  #close(tag: string): void {
    const index = this.#fields.findLastIndex((field) => field.tag === tag)
    if (index !== -1) this.#fields.length = index
  }
}

/** Longest line that is read. It keeps the time of searches within a line short. */
const maxLine = 5_000

/** Removes comments outside of code. The lines keep their numbers. */
function withoutComments(lines: readonly string[]): string[] {
  let fence: string | undefined
  let end: string | undefined
  return lines.map((whole) => {
    const line = whole.slice(0, maxLine)
    if (end === undefined) {
      const isInside = fence !== undefined
      if (fence === undefined) fence = /^\s*(```+|~~~+)/.exec(line)?.[1]
      else if (line.trim().startsWith(fence)) fence = undefined
      if (isInside || fence !== undefined) return line
    }
    let kept = ''
    for (let at = 0; at < line.length; ) {
      if (end === undefined) {
        const [open, close] = nextComment(line, at)
        kept += line.slice(at, open)
        at = open
        end = close
      } else {
        const close = line.indexOf(end, at)
        if (close === -1) break
        at = close + end.length
        end = undefined
      }
    }
    return kept
  })
}

/** Returns where the next comment of a line begins and how it ends. */
function nextComment(line: string, at: number): [begin: number, end: string | undefined] {
  const [mdx, html] = [line.indexOf('{/*', at), line.indexOf('<!--', at)]
  if (mdx !== -1 && (html === -1 || mdx < html)) return [mdx, '*/}']
  return html === -1 ? [line.length, undefined] : [html, '-->']
}

/** Returns `GET /v2/messages/{}` for a method with a path or a URL. */
function endpointOf(text: string): string | undefined {
  const [, method, path] = request.exec(text.trim()) ?? []
  if (method === undefined) return undefined
  return `${method.toUpperCase()} ${path!.replace(/\?.*$/, '').replace(/\{[^}]*\}|:\w+|<[^>]*>/g, '{}')}`
}

function factsOf(attributes: ReadonlyMap<string, string>): string {
  const isOn = (name: string): boolean => ['', 'true'].includes(attributes.get(name) ?? 'false')
  const standard = attributes.get('default') ?? attributes.get('initialValue')
  return [
    choicesOf(attributes.get('type') ?? ''),
    isOn('required') ? 'required' : '',
    isOn('deprecated') ? 'deprecated' : '',
    standard === undefined ? '' : `default ${standard}`,
  ]
    .filter((fact) => fact !== '')
    .join(', ')
}

function choicesOf(text: string): string {
  return sortedChoices(text.split('|').map(oneLine))
}

function subjectOf(title: string): Subject | undefined {
  return subjects.find(([pattern]) => pattern.test(plain(title)))?.[1]
}

/** Returns the name in lower case. A variable part becomes `*`. */
function headerOf(name: string): string {
  return name.replace(/[<{*].*$/, '*').toLowerCase()
}

/** Whether a line can be a row of a table. The bars at its ends may be missing. */
function isRow(line: string): boolean {
  return line.includes('|')
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\||\|$/g, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** Returns the texts in backticks. */
function codesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => oneLine(code!))
}

/** Removes links and marks of Markdown. */
function plain(text: string): string {
  return oneLine(text.replace(/!?\[([^\]]{0,200})\]\([^)]{0,500}\)/g, '$1').replace(/\*\*|__|`/g, ''))
}

/** Returns the index behind the `>` that ends the first tag of a text. */
function endOfTag(text: string): number | undefined {
  let quote = ''
  let braces = 0
  for (let index = 0; index < text.length; index++) {
    const char = text[index]!
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === '{') braces++
    else if (char === '}') braces--
    else if (char === '>' && braces <= 0) return index + 1
  }
  return undefined
}

/** Reads attributes: `name="x"`, `default={3}`, `required`. */
function attributesIn(tag: string): Map<string, string> {
  const inner = tag.replace(/^<\w+/, '').replace(/\/?>$/, '')
  const found = new Map<string, string>()
  const attribute = /([A-Za-z][\w-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|\{([^}]*)\}))?/g
  for (const [, name, double, single, braced] of inner.matchAll(attribute)) {
    const value = (double ?? single ?? braced ?? '').trim()
    found.set(name!, value.replace(/^(["'`])(.*)\1$/, '$2'))
  }
  return found
}
