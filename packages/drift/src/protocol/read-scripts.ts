import ts from 'typescript'
import { type Item, oneLine } from './items.js'

// Reads what the JavaScript of a client sends and recognizes: commands with their options, endpoints with their
// parameters, headers, statuses and texts. The code is parsed and never run.

/** A function, method or constructor: the smallest part of the code whose constants belong together. */
interface Unit {
  readonly commands: Map<string, number>
  readonly options: Map<string, number>
  /** Names of the functions that the unit calls. */
  readonly calls: Set<string>
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
const optionWord = /^[A-Za-z][A-Za-z0-9_-]{0,23}$/
const dottedCommand = /^[A-Z]+\.[A-Z]+$/
const ownHeader = /^(?:upstash|qstash|x-upstash)-[a-z0-9-]*$/i
const anyHeader = /^[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*$/

/**
 * Returns the items of one file.
 * @param containers names of commands that have subcommands
 */
export function readScript(file: string, text: string, containers: ReadonlySet<string>): Item[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS)
  const reader = new ScriptReader(file, source, containers)
  reader.read()
  return reader.items
}

class ScriptReader {
  readonly items: Item[] = []
  /** Units with a name that other units can call. */
  readonly #functions = new Map<string, Unit>()
  readonly #units: Unit[] = []

  constructor(
    readonly file: string,
    readonly source: ts.SourceFile,
    readonly containers: ReadonlySet<string>,
  ) {}

  read(): void {
    this.#visit(this.source, this.#unit())
    for (const unit of this.#units) this.#reportCommands(unit)
  }

  #unit(): Unit {
    const unit: Unit = { commands: new Map(), options: new Map(), calls: new Set() }
    this.#units.push(unit)
    return unit
  }

  #add(kind: Item['kind'], name: string, node: ts.Node | number, more: Partial<Item> = {}): void {
    const line = typeof node === 'number' ? node : this.#line(node)
    this.items.push({ kind, name, value: '', source: `${this.file}:${line}`, ...more })
  }

  #line(node: ts.Node): number {
    return this.source.getLineAndCharacterOfPosition(node.getStart(this.source)).line + 1
  }

  #visit(node: ts.Node, unit: Unit): void {
    if (isOutermostFunction(node)) {
      unit = this.#unit()
      const name = nameOf(node)
      if (name !== undefined) this.#functions.set(name, unit)
    }
    if (ts.isArrayLiteralExpression(node)) this.#array(node, unit)
    if (ts.isCallExpression(node)) this.#call(node, unit)
    if (ts.isObjectLiteralExpression(node)) this.#object(node)
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) this.#string(node, unit)
    if (ts.isBinaryExpression(node)) this.#comparison(node)
    ts.forEachChild(node, (child) => this.#visit(child, unit))
  }

  // ---- commands and options -------------------------------------------------------------------------------------

  #array(node: ts.ArrayLiteralExpression, unit: Unit): void {
    let rest: readonly ts.Expression[] = node.elements
    if (isCommandArray(node)) {
      const [first, second] = node.elements
      const name = first !== undefined && ts.isStringLiteralLike(first) ? first.text.toUpperCase() : undefined
      if (name !== undefined && /^[A-Z][A-Z0-9_.]*$/.test(name)) {
        const hasSub = this.containers.has(name) && second !== undefined && ts.isStringLiteralLike(second)
        unit.commands.set(hasSub ? `${name} ${second.text.toUpperCase()}` : name, this.#line(node))
        rest = node.elements.slice(hasSub ? 2 : 1)
      }
    }
    this.#phrases(rest, unit)
  }

  /** Collects constants that follow each other as one option: `ON STREAM`. */
  #phrases(nodes: readonly ts.Node[], unit: Unit): void {
    let words: string[] = []
    let line = 0
    const end = (): void => {
      if (words.length > 0) unit.options.set(words.join(' ').toUpperCase(), line)
      words = []
    }
    for (const node of nodes) {
      if (ts.isStringLiteralLike(node) && optionWord.test(node.text)) {
        if (words.length === 0) line = this.#line(node)
        words.push(node.text)
      } else end()
    }
    end()
  }

  #reportCommands(unit: Unit): void {
    if (unit.commands.size === 0) return
    const options = new Map<string, number>()
    const seen = new Set<Unit>()
    const collect = (from: Unit): void => {
      if (seen.has(from)) return
      seen.add(from)
      for (const [option, line] of from.options) if (!options.has(option)) options.set(option, line)
      for (const name of from.calls) {
        const called = this.#functions.get(name)
        if (called !== undefined && called.commands.size === 0) collect(called)
      }
    }
    collect(unit)
    for (const [command, line] of unit.commands) {
      this.#add('command', command, line)
      for (const [option, at] of options) {
        if (!unit.commands.has(option)) this.#add('option', `${command} ${option}`, at, { owner: command })
      }
    }
  }

  #call(node: ts.CallExpression, unit: Unit): void {
    const { expression } = node
    if (ts.isIdentifier(expression)) unit.calls.add(expression.text)
    if (!ts.isPropertyAccessExpression(expression)) return
    const [first] = node.arguments
    const method = expression.name.text
    if (method === 'push') this.#phrases(node.arguments, unit)
    if (first === undefined || !ts.isStringLiteralLike(first)) return
    const on = expression.expression.getText(this.source)
    if (['get', 'set', 'has', 'append', 'delete'].includes(method) && /headers$/i.test(on))
      this.#header(first, first.text)
    if (['includes', 'startsWith', 'endsWith'].includes(method) && /(?:message|error|body|text)$/i.test(on))
      this.#add('text', `recognized: ${oneLine(first.text)}`, first)
  }

  // ---- requests ---------------------------------------------------------------------------------------------------

  #object(node: ts.ObjectLiteralExpression): void {
    const path = propertyOf(node, 'path')
    if (path !== undefined) for (const array of pathArrays(path)) this.#request(array, segments(array), node)
    const headers = propertyOf(node, 'headers')
    if (headers !== undefined && ts.isObjectLiteralExpression(headers)) {
      for (const { name } of headers.properties) {
        if (name !== undefined && (ts.isStringLiteralLike(name) || ts.isIdentifier(name))) this.#header(name, name.text)
      }
    }
  }

  #request(node: ts.Node, path: string, request: ts.ObjectLiteralExpression): void {
    const method = textOf(propertyOf(request, 'method'))?.toUpperCase()
    const endpoint = this.#endpoint(node, method, path)
    for (const part of ['query', 'body']) {
      for (const name of keysIn(propertyOf(request, part))) this.#parameter(endpoint, name, node)
    }
  }

  /** Adds an endpoint, and the parameters that are part of its path. Returns its name. */
  #endpoint(node: ts.Node, method: string | undefined, given: string): string {
    const [whole = '', query = ''] = given.split('?')
    // A value directly behind a segment is a query that the client builds: `/stats/${id}${query}`.
    const path = whole.replace(/(?<=[^/])\{\}$/, '')
    const endpoint = `${method ?? 'ANY'} ${path}`
    if (path === '') return endpoint
    this.#add('endpoint', endpoint, node)
    for (const pair of query.split('&')) {
      const name = pair.split('=')[0]!
      if (/^[\w-]+$/.test(name)) this.#parameter(endpoint, name, node)
    }
    return endpoint
  }

  #parameter(endpoint: string, name: string, node: ts.Node): void {
    this.#add('parameter', `${endpoint} ${name}`, node, { owner: endpoint })
  }

  // ---- constants --------------------------------------------------------------------------------------------------

  #string(node: ts.StringLiteralLike | ts.TemplateExpression, unit: Unit): void {
    const text = ts.isTemplateExpression(node) ? templateText(node) : node.text
    if (dottedCommand.test(text)) unit.commands.set(text, this.#line(node))
    if (ownHeader.test(text.replace(/\{\}$/, ''))) this.#header(node, text)
    // Scripts in Lua that the client sends.
    for (const [, name] of text.matchAll(/\bredis\.p?call\(\s*["'](\w[\w.]*)["']/g)) {
      this.#add('command', name!.toUpperCase(), node)
    }
    const path = /^(?:\{\})?(\/v\d+\/[\w{}/.?=&-]+)$/.exec(text)?.[1]
    if (path !== undefined) this.#literalPath(node, path)
  }

  /** Reads a request by a path that is one string: `request(auth, "GET", "/v2/x")`, `fetch("/v2/x", { method })`. */
  #literalPath(node: ts.Node, path: string): void {
    const call = node.parent
    if (!ts.isCallExpression(call)) {
      this.#endpoint(node, undefined, path)
      return
    }
    let method: string | undefined
    let body: ts.Node | undefined
    for (const argument of call.arguments) {
      if (ts.isStringLiteralLike(argument) && methods.has(argument.text.toUpperCase()))
        method = argument.text.toUpperCase()
      if (!ts.isObjectLiteralExpression(argument)) continue
      const given = textOf(propertyOf(argument, 'method'))?.toUpperCase()
      if (given !== undefined) method = given
      else if (method !== undefined && argument.pos > node.pos) body = argument
    }
    // fetch() without a method.
    const isFetch = ts.isIdentifier(call.expression) && call.expression.text === 'fetch'
    const endpoint = this.#endpoint(node, method ?? (isFetch ? 'GET' : undefined), path)
    for (const name of keysIn(body)) this.#parameter(endpoint, name, node)
  }

  #header(node: ts.Node, text: string): void {
    const name = text.replace(/\{\}$/, '*')
    if (anyHeader.test(name.replace(/-?\*$/, ''))) this.#add('header', name.toLowerCase(), node)
  }

  /** Reads a comparison with a status: `response.status === 429`. */
  #comparison(node: ts.BinaryExpression): void {
    if (!/^[!=]==?$/.test(node.operatorToken.getText(this.source))) return
    for (const [left, right] of [
      [node.left, node.right],
      [node.right, node.left],
    ] as const) {
      const isStatus = ts.isPropertyAccessExpression(left) && left.name.text === 'status'
      if (isStatus && ts.isNumericLiteral(right) && /^[1-5]\d\d$/.test(right.text))
        this.#add('status', right.text, node)
    }
  }
}

function isOutermostFunction(node: ts.Node): boolean {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isConstructorDeclaration(node))
    return !isInFunction(node)
  return (
    (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) && nameOf(node) !== undefined && !isInFunction(node)
  )
}

function isInFunction(node: ts.Node): boolean {
  for (let outer = node.parent; outer !== undefined; outer = outer.parent) {
    if (ts.isClassLike(outer)) return false
    if (ts.isFunctionLike(outer)) return true
  }
  return false
}

function nameOf(node: ts.Node): string | undefined {
  if (ts.isFunctionDeclaration(node)) return node.name?.text
  const { parent } = node
  if (ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name)) return parent.name.text
  return ts.isPropertyDeclaration(parent) ? '' : undefined
}

/** Whether an array is a command: what a command class passes to `super()`, or a variable named `command`. */
function isCommandArray(node: ts.ArrayLiteralExpression): boolean {
  const { parent } = node
  if (isSuperCall(parent)) return isInCommandClass(parent)
  const target = ts.isVariableDeclaration(parent)
    ? parent.name
    : ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken
      ? parent.left
      : undefined
  if (target === undefined) return false
  const name = ts.isPropertyAccessExpression(target) ? target.name : target
  if (!ts.isIdentifier(name)) return false
  return /^(?:command|cmd)$/i.test(name.text) || (isInCommandClass(node) && isPassedToSuper(name))
}

function isInCommandClass(node: ts.Node): boolean {
  let outer = node
  while (!ts.isClassLike(outer) && outer.parent !== undefined) outer = outer.parent
  if (!ts.isClassLike(outer)) return false
  const base = outer.heritageClauses?.[0]?.types[0]?.expression
  return base !== undefined && ts.isIdentifier(base) && /Command$/.test(base.text)
}

function isSuperCall(node: ts.Node): node is ts.CallExpression {
  return ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword
}

/** Whether a statement of the same block calls `super()` with a variable. */
function isPassedToSuper(name: ts.Identifier): boolean {
  let block: ts.Node = name
  while (!ts.isBlock(block) && block.parent !== undefined) block = block.parent
  if (!ts.isBlock(block)) return false
  return block.statements.some((statement) => {
    if (!ts.isExpressionStatement(statement) || !isSuperCall(statement.expression)) return false
    const [first] = statement.expression.arguments
    return first !== undefined && ts.isIdentifier(first) && first.text === name.text
  })
}

function propertyOf(node: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined {
  for (const property of node.properties) {
    if (ts.isPropertyAssignment(property) && keyText(property.name) === name) return property.initializer
    if (ts.isShorthandPropertyAssignment(property) && property.name.text === name) return property.name
  }
  return undefined
}

function keyText(name: ts.PropertyName): string | undefined {
  return ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? name.text : undefined
}

/** Names in an object literal, also inside `JSON.stringify({ … })` and spreads with a condition. */
function keysIn(node: ts.Node | undefined): string[] {
  if (node === undefined) return []
  if (ts.isCallExpression(node) && /^JSON\.stringify$/.test(node.expression.getText())) return keysIn(node.arguments[0])
  if (ts.isParenthesizedExpression(node)) return keysIn(node.expression)
  if (ts.isConditionalExpression(node)) return [...keysIn(node.whenTrue), ...keysIn(node.whenFalse)]
  if (!ts.isObjectLiteralExpression(node)) return []
  return node.properties.flatMap((property) =>
    ts.isSpreadAssignment(property)
      ? keysIn(property.expression)
      : [property.name && keyText(property.name)].filter((name) => name !== undefined),
  )
}

/** Returns the arrays that a path can be: the value itself, the branches of a condition, or a constant of the file. */
function pathArrays(node: ts.Expression): ts.ArrayLiteralExpression[] {
  if (ts.isArrayLiteralExpression(node)) return [node]
  if (ts.isConditionalExpression(node)) return [...pathArrays(node.whenTrue), ...pathArrays(node.whenFalse)]
  if (!ts.isIdentifier(node)) return []
  for (let outer: ts.Node = node; outer.parent !== undefined; outer = outer.parent) {
    if (!ts.isBlock(outer)) continue
    for (const statement of outer.statements) {
      if (!ts.isVariableStatement(statement)) continue
      const found = statement.declarationList.declarations.find(
        ({ name }) => ts.isIdentifier(name) && name.text === node.text,
      )
      if (found?.initializer !== undefined && !ts.isIdentifier(found.initializer)) return pathArrays(found.initializer)
    }
  }
  return []
}

function segments(array: ts.ArrayLiteralExpression): string {
  return array.elements.map((element) => `/${textOf(element) ?? '{}'}`).join('')
}

/** Returns the text of a constant. Values that are inserted into a template are written `{}`. */
function textOf(node: ts.Node | undefined): string | undefined {
  if (node === undefined) return undefined
  if (ts.isStringLiteralLike(node)) return node.text
  return ts.isTemplateExpression(node) ? templateText(node) : undefined
}

function templateText(node: ts.TemplateExpression): string {
  return node.head.text + node.templateSpans.map(({ literal }) => `{}${literal.text}`).join('')
}
