import { join } from 'node:path'
import ts from 'typescript'
import { entries, moduleEntries } from './entries.ts'

/** A function or method that users of the package can call. */
export interface PublicFunction {
  /** `fault.lostAck`, `Clock.advance`. */
  readonly name: string
  /** `src/kernel/clock.ts:185`. */
  readonly place: string
  /** The documentation as a completion list shows it: inherited where the declaration has none. */
  readonly summary: string
  /** As an editor shows them: inherited where the declaration has none. */
  readonly examples: readonly string[]
  /** Those of the declaration itself. */
  readonly ownExamples: readonly string[]
  /** Whether `sandbox` of its examples is a sandbox on a server. */
  readonly isRemote: boolean
}

export const root: string = new URL('../..', import.meta.url).pathname

/** Types whose methods the app, a test runner or another package implements or calls. */
const implementedElsewhere: ReadonlySet<string> = new Set([
  'AsymmetricMatcher',
  'ClockFollower',
  'ExploredSubject',
  'Findings',
  'MatcherResult',
  'RawRequest',
  'RunnerTimers',
  'ServiceClock',
  'SinonClock',
  'TimerTarget',
  'Verdict',
])

/** Exported as types of what a sandbox consists of, and not handed to an app. */
const engineTypes: ReadonlySet<string> = new Set([
  'EntriesByType',
  'InvariantIndex',
  'KnownDifference',
  'StreamOutlet',
  'TrafficLog',
])

/** Methods that the language calls. */
const conversions: ReadonlySet<string> = new Set(['toJSON', 'toString'])

/** A program of the published entries, with more files whose texts are given. */
export function programOf(extra: Readonly<Record<string, string>> = {}): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'test/tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, join(root, 'test'))
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (file) => file in extra || fileExists(file)
  host.getSourceFile = (file, target, ...more) =>
    file in extra ? ts.createSourceFile(file, extra[file]!, target, true) : getSourceFile(file, target, ...more)
  const sources = Object.values({ ...entries, ...moduleEntries }).map((source) => join(root, source))
  return ts.createProgram([...sources, ...Object.keys(extra)], { ...options, noUnusedLocals: false }, host)
}

/** A field of an object that users of the package write or read. */
export interface PublicField {
  /** `PublishOptions.retries`. */
  readonly name: string
  /** `src/kernel/clock.ts:185`. */
  readonly place: string
  readonly summary: string
}

/** Every function, method and field that can be reached from the published entries, once each. */
export function publicMembers(program: ts.Program): { functions: PublicFunction[]; fields: PublicField[] } {
  const checker = program.getTypeChecker()
  const found = new Map<ts.Symbol, PublicFunction>()
  const fields = new Map<ts.Symbol, PublicField>()
  const visited = new Set<ts.Symbol>()

  const isOurs = (node: ts.Node): boolean => {
    const { fileName } = node.getSourceFile()
    return fileName.startsWith(root) && !fileName.includes('/node_modules/')
  }
  const resolved = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const isInternal = (symbol: ts.Symbol): boolean =>
    symbol.getJsDocTags(checker).some(({ name }) => name === 'internal')

  const described = (name: string, symbol: ts.Symbol, declaration: ts.Declaration): PublicField => {
    const source = declaration.getSourceFile()
    const line = source.getLineAndCharacterOfPosition(declaration.getStart()).line + 1
    return {
      name,
      place: `${source.fileName.slice(root.length)}:${line}`,
      summary: ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim(),
    }
  }

  const addField = (name: string, symbol: ts.Symbol): void => {
    const declaration = symbol.declarations?.find(isOurs)
    if (declaration === undefined || fields.has(symbol) || isInternal(symbol)) return
    fields.set(symbol, described(name, symbol, declaration))
  }

  const add = (name: string, symbol: ts.Symbol): void => {
    const declaration = symbol.declarations?.find(isOurs)
    if (declaration === undefined || found.has(symbol) || isInternal(symbol)) return
    const place = described(name, symbol, declaration)
    found.set(symbol, {
      ...place,
      examples: symbol
        .getJsDocTags(checker)
        .filter((tag) => tag.name === 'example')
        .map(({ text }) => ts.displayPartsToString(text)),
      ownExamples: (symbol.declarations ?? []).flatMap((one) =>
        ts
          .getJSDocTags(one)
          .filter(({ tagName }) => tagName.text === 'example')
          .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? ''),
      ),
      isRemote: place.place.startsWith('src/client/') && !/^connect$/.test(name),
    })
  }

  /** The types that a declaration names, which a user therefore gets. */
  const namedIn = (node: ts.Node): void => {
    const visit = (child: ts.Node): void => {
      if (ts.isBlock(child)) return
      // The value of a variable with a type is no part of the declarations.
      if (ts.isVariableDeclaration(child) && child.type !== undefined) {
        visit(child.type)
        return
      }
      if (ts.isTypeReferenceNode(child) || ts.isExpressionWithTypeArguments(child)) {
        const symbol = checker.getSymbolAtLocation(ts.isTypeReferenceNode(child) ? child.typeName : child.expression)
        if (symbol !== undefined) addType(resolved(symbol))
      }
      ts.forEachChild(child, visit)
    }
    visit(node)
  }

  /** The fields of the object types that a type alias consists of. */
  const fieldsIn = (name: string, type: ts.TypeNode): void => {
    if (ts.isUnionTypeNode(type) || ts.isIntersectionTypeNode(type)) for (const one of type.types) fieldsIn(name, one)
    if (ts.isParenthesizedTypeNode(type)) fieldsIn(name, type.type)
    if (!ts.isTypeLiteralNode(type)) return
    for (const { name: written } of type.members) {
      const symbol = written && checker.getSymbolAtLocation(written)
      if (symbol !== undefined && !ts.isComputedPropertyName(written!)) addField(`${name}.${symbol.name}`, symbol)
    }
  }

  const addType = (symbol: ts.Symbol): void => {
    const { name } = symbol
    if (visited.has(symbol) || engineTypes.has(name) || isInternal(symbol)) return
    visited.add(symbol)
    for (const declaration of symbol.declarations?.filter(isOurs) ?? []) {
      if (!ts.isClassDeclaration(declaration) && !ts.isInterfaceDeclaration(declaration)) {
        namedIn(declaration)
        if (ts.isTypeAliasDeclaration(declaration)) fieldsIn(name, declaration.type)
        continue
      }
      for (const clause of declaration.heritageClauses ?? []) namedIn(clause)
      const isCalledElsewhere = implementedElsewhere.has(name) || extendsAnother(declaration)
      for (const member of declaration.members) {
        const own = member.name === undefined ? undefined : checker.getSymbolAtLocation(member.name)
        if (own === undefined || !isPublic(member) || isInternal(own)) continue
        const isMethod = ts.isMethodDeclaration(member) || ts.isMethodSignature(member)
        if (isMethod && !isCalledElsewhere && !conversions.has(own.name) && !ts.isComputedPropertyName(member.name)) {
          add(`${name}.${own.name}`, own)
        }
        if (!isMethod && !ts.isComputedPropertyName(member.name!)) addField(`${name}.${own.name}`, own)
        if (ts.isPropertyDeclaration(member) && member.type !== undefined) namedIn(member.type)
        else if (!ts.isPropertyDeclaration(member)) namedIn(member)
      }
    }
  }

  /** Whether a class is what another package asks for, and calls. */
  const extendsAnother = ({ heritageClauses = [] as never }: ts.ClassDeclaration | ts.InterfaceDeclaration): boolean =>
    heritageClauses
      .flatMap(({ types }) => [...types])
      .some(({ expression }) => {
        const symbol = checker.getSymbolAtLocation(expression)
        const declaration = symbol && resolved(symbol).declarations?.[0]
        return (
          declaration !== undefined &&
          /\/node_modules\/(?!@types\/|typescript)/.test(declaration.getSourceFile().fileName)
        )
      })

  const addValue = (name: string, symbol: ts.Symbol): void => {
    if (symbol.flags & ts.SymbolFlags.Function) add(name, symbol)
    if (symbol.flags & ts.SymbolFlags.Variable) {
      const type = checker.getTypeOfSymbol(symbol)
      if (type.getCallSignatures().length > 0) add(name, symbol)
    }
    // `export * as fault`: its functions are called `fault.lostAck`.
    if (symbol.flags & ts.SymbolFlags.ValueModule)
      for (const member of checker.getExportsOfModule(symbol)) addValue(`${name}.${member.name}`, resolved(member))
    for (const declaration of symbol.declarations?.filter(isOurs) ?? [])
      if (!ts.isSourceFile(declaration) && !ts.isClassDeclaration(declaration)) namedIn(declaration)
    addType(symbol)
  }

  for (const source of Object.values({ ...entries, ...moduleEntries })) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(join(root, source))!)
    if (module === undefined) continue
    for (const symbol of checker.getExportsOfModule(module)) addValue(symbol.name, resolved(symbol))
  }
  return { functions: [...found.values()], fields: [...fields.values()] }
}

function isPublic(member: ts.ClassElement | ts.TypeElement): boolean {
  if (ts.isClassStaticBlockDeclaration(member) || ts.isConstructorDeclaration(member)) return false
  if (member.name === undefined || ts.isPrivateIdentifier(member.name)) return false
  return !(
    ts.getCombinedModifierFlags(member as ts.Declaration) &
    (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)
  )
}

/** Every name that an entry exports, with its summary: functions, types, constants. */
export function exportedNames(program: ts.Program): { readonly name: string; readonly summary: string }[] {
  const checker = program.getTypeChecker()
  const found = new Map<ts.Symbol, { readonly name: string; readonly summary: string }>()
  const isOurs = ({ fileName }: ts.SourceFile): boolean =>
    fileName.startsWith(root) && !/\/node_modules\//.test(fileName)
  for (const [entry, source] of Object.entries({ ...entries, ...moduleEntries })) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(join(root, source))!)
    for (const exported of module === undefined ? [] : checker.getExportsOfModule(module)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
      const [declaration] = symbol.declarations ?? []
      // A namespace such as `fault` is a module, whose functions have summaries.
      if (declaration === undefined || ts.isSourceFile(declaration) || !isOurs(declaration.getSourceFile())) continue
      const summary = ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim()
      if (!found.has(symbol)) found.set(symbol, { name: `${exported.name} of ${entry}`, summary })
    }
  }
  return [...found.values()]
}
