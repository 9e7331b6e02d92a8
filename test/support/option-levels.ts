import { join } from 'node:path'
import ts from 'typescript'
import { entries, moduleEntries } from './entries.js'

// Lists every object that users write for a public function, and every object inside it, from the declarations.

/** One object of options. */
export interface OptionLevel {
  /** Function and argument: `Faults.add[0]`. */
  readonly call: string
  /** Path in the argument, `''` for the argument itself: `match.attempt`, `faults[].fault`. */
  readonly path: string
  readonly names: readonly string[]
  /** Creates a valid argument with one unknown field at this level. */
  with(name: string): unknown
}

interface Place {
  readonly call: string
  readonly path: string
  /** Returns the argument with this value at this level. */
  argument(value: unknown): unknown
}

const root = new URL('../..', import.meta.url).pathname
const deepest = 6

export function optionLevels(): readonly OptionLevel[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)
  const files = Object.values({ ...entries, ...moduleEntries }).map((file) => join(root, file))
  const program = ts.createProgram(files, { ...options, noEmit: true })
  return new Levels(program, files).found
}

class Levels {
  readonly found: OptionLevel[] = []
  readonly #checker: ts.TypeChecker
  readonly #parameters = new Set<ts.Symbol>()
  readonly #levels = new Set<string>()
  readonly #objects = new Set<ts.Symbol | ts.Type>()

  constructor(program: ts.Program, files: readonly string[]) {
    this.#checker = program.getTypeChecker()
    for (const file of files) {
      const module = this.#checker.getSymbolAtLocation(program.getSourceFile(file)!)
      for (const exported of module === undefined ? [] : this.#checker.getExportsOfModule(module))
        this.#export(exported)
    }
  }

  #export(exported: ts.Symbol): void {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(exported) : exported
    if (exported.name === 'SandboxMatchers') this.#object(this.#checker.getDeclaredTypeOfSymbol(symbol), 0)
    if (!(symbol.flags & ts.SymbolFlags.Value)) return
    const type = this.#checker.getTypeOfSymbol(symbol)
    this.#callable(type, exported.name, 0)
    this.#object(type, 0, exported.name)
  }

  /** Parameters of a function, and what it returns. */
  #callable(type: ts.Type, name: string, depth: number): void {
    for (const signature of type.getCallSignatures()) {
      for (const [index, parameter] of signature.parameters.entries()) this.#parameter(parameter, name, index)
      this.#object(signature.getReturnType(), depth + 1)
    }
  }

  #parameter(parameter: ts.Symbol, name: string, index: number): void {
    if (this.#parameters.has(parameter)) return
    this.#parameters.add(parameter)
    const type = this.#checker.getTypeOfSymbol(parameter)
    const declaration = parameter.valueDeclaration
    const isRest = declaration !== undefined && ts.isParameter(declaration) && declaration.dotDotDotToken !== undefined
    const types = isRest ? this.#checker.getTypeArguments(type as ts.TypeReference) : [type]
    for (const [more, one] of types.entries()) {
      const call = `${name}[${index + more}]`
      this.#level(one, { call, path: '', argument: (value) => value }, [])
    }
  }

  /** Returns the members of a value that users receive. */
  #object(type: ts.Type, depth: number, name?: string): void {
    if (depth > 7) return
    if (type.isUnion()) {
      for (const one of type.types) this.#object(one, depth, name)
      return
    }
    const symbol = type.getSymbol()
    const isNamed =
      symbol !== undefined && !(symbol.flags & (ts.SymbolFlags.TypeLiteral | ts.SymbolFlags.ObjectLiteral))
    if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return
    if (symbol !== undefined && !isOurs(symbol)) {
      for (const argument of this.#checker.getTypeArguments(type as ts.TypeReference)) this.#object(argument, depth + 1)
      return
    }
    // A class has levels in its members and their types.
    const key = isNamed && type.getConstructSignatures().length === 0 ? symbol : type
    if (this.#objects.has(key)) return
    this.#objects.add(key)
    const owner = name ?? (isNamed ? symbol.name : undefined)
    for (const member of type.getProperties()) {
      if (!isPublic(member)) continue
      const memberType = this.#checker.getTypeOfSymbol(member)
      const parent = ownerOf(member) ?? owner ?? ''
      if (memberType.getCallSignatures().length > 0) this.#callable(memberType, `${parent}.${member.name}`, depth)
      else this.#object(memberType, depth + 1)
    }
  }

  #level(type: ts.Type, place: Place, above: readonly ts.Type[]): void {
    if (above.length > deepest || above.includes(type)) return
    if (type.isUnion()) {
      for (const one of type.types) this.#level(one, place, above)
      return
    }
    if (type.flags & ts.TypeFlags.TypeParameter) {
      const constraint = this.#checker.getBaseConstraintOfType(type)
      if (constraint !== undefined && constraint !== type) this.#level(constraint, place, above)
      return
    }
    if (this.#checker.isArrayType(type) || this.#checker.isTupleType(type)) {
      for (const item of this.#checker.getTypeArguments(type as ts.TypeReference)) {
        const { call, path, argument } = place
        this.#level(item, { call, path: `${path}[]`, argument: (value) => argument([value]) }, [...above, type])
      }
      return
    }
    if (!isBag(type)) return
    const names = type.getProperties().map((property) => property.name)
    const { call, path, argument } = place
    // The same fields occur below other points or in another overload.
    const same = [call, path, ...names, this.#kind(type)].join(' ')
    if (this.#levels.has(same)) return
    this.#levels.add(same)
    const needed = (): Record<string, unknown> => this.#needed(type)
    // An object with arbitrary names has no unknown fields.
    if (!this.#isOpen(type)) {
      this.found.push({ call, path, names, with: (name) => argument({ ...needed(), [name]: 1 }) })
    }
    for (const property of type.getProperties()) {
      const inner: Place = {
        call,
        path: `${path}${path === '' ? '' : '.'}${property.name}`,
        argument: (value) => argument({ ...needed(), [property.name]: value }),
      }
      this.#level(this.#checker.getTypeOfSymbol(property), inner, [...above, type])
    }
  }

  /** Returns the field that distinguishes the members of a union. */
  #kind(type: ts.Type): string {
    const field = type.getProperty('kind') ?? type.getProperty('type')
    return field === undefined ? '' : this.#checker.typeToString(this.#checker.getTypeOfSymbol(field))
  }

  #isOpen(type: ts.Type): boolean {
    return this.#checker.getIndexInfosOfType(type).some(({ keyType }) => Boolean(keyType.flags & ts.TypeFlags.String))
  }

  /** Returns required fields with a valid value. */
  #needed(type: ts.Type): Record<string, unknown> {
    const needed = type.getProperties().filter(({ flags }) => !(flags & ts.SymbolFlags.Optional))
    return Object.fromEntries(
      needed.map((property) => [property.name, this.#sample(this.#checker.getTypeOfSymbol(property), 0)]),
    )
  }

  #sample(type: ts.Type, depth: number): unknown {
    if (depth > deepest) return undefined
    if (type.isUnion()) {
      const [first] = type.types.filter(({ flags }) => !(flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Null)))
      return first === undefined ? null : this.#sample(first, depth + 1)
    }
    if (type.flags & ts.TypeFlags.TypeParameter)
      return this.#sample(this.#checker.getBaseConstraintOfType(type)!, depth + 1)
    if (type.isIntersection() && !isBag(type)) return this.#sample(type.types[0]!, depth + 1)
    if (type.isStringLiteral() || type.isNumberLiteral()) return type.value
    if (type.flags & ts.TypeFlags.BooleanLike) return true
    if (type.flags & ts.TypeFlags.NumberLike) return 200
    if (type.flags & ts.TypeFlags.TemplateLiteral) return '1s'
    if (type.flags & ts.TypeFlags.StringLike) return 'https://a.test/x'
    if (type.getCallSignatures().length > 0) return () => undefined
    if (this.#checker.isArrayType(type)) {
      return this.#checker.getTypeArguments(type as ts.TypeReference).map((item) => this.#sample(item, depth + 1))
    }
    return isBag(type) ? this.#needed(type) : undefined
  }
}

/** Returns whether a type is a plain object: not a list, function or class. */
function isBag(type: ts.Type): boolean {
  if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return false
  if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0) return false
  const properties = type.getProperties()
  const declarations = type.getSymbol()?.declarations ?? []
  if (declarations.some(ts.isClassDeclaration) || properties.length === 0) return false
  // An object with methods is created by the package, not written by users.
  return properties.every(({ declarations: own = [] }) => own.every(isWritten))
}

function isWritten(declaration: ts.Declaration): boolean {
  return (
    declaration.getSourceFile().fileName.startsWith(root) &&
    !isForeign(declaration) &&
    !ts.isMethodSignature(declaration)
  )
}

function isForeign(declaration: ts.Declaration): boolean {
  return declaration.getSourceFile().fileName.includes('/node_modules/')
}

function isOurs({ declarations = [] }: ts.Symbol): boolean {
  return declarations.length === 0 || declarations.some((one) => !isForeign(one))
}

function isPublic(member: ts.Symbol): boolean {
  const declaration = member.valueDeclaration ?? member.declarations?.[0]
  if (declaration === undefined) return true
  if (isForeign(declaration) || member.name.startsWith('__')) return false
  const name = ts.getNameOfDeclaration(declaration)
  const isHidden = ts.getCombinedModifierFlags(declaration) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)
  const isInternal = ts.getJSDocTags(declaration).some(({ tagName }) => tagName.text === 'internal')
  return !isHidden && !isInternal && !(name !== undefined && ts.isPrivateIdentifier(name))
}

/** Returns the class or interface that declares a member. */
function ownerOf({ valueDeclaration }: ts.Symbol): string | undefined {
  const parent = valueDeclaration?.parent
  return parent !== undefined && (ts.isClassDeclaration(parent) || ts.isInterfaceDeclaration(parent))
    ? parent.name?.text
    : undefined
}
